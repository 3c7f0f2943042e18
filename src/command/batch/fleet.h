// fleet.h: the OpenCL devices of a batch, shared by its threads; reopens a lost device
#pragma once

#include "compute/device.h"

#include <pthread.h>

enum { FLEET_OPENINGS = 4 }; // attempts to open one device; after that many losses, it is not opened again

struct fleet_member {
    struct device_info info;
    int number;           // its number in the list of `monocle devices`
    pthread_mutex_t lock; // guards the members below
    // The last one is in use. Lost devices stay open until the end, because another thread may still use them.
    struct device *device[FLEET_OPENINGS];
    int openings;
};

struct fleet {
    struct fleet_member member[DEVICE_MAX];
    int count;
    const char *kernel_dir;
};

// Selects the devices that `text` names (as device_choose does), and opens none yet. "all" selects every GPU; on a
// machine without a GPU, every accelerator; without accelerators, every CPU device. Returns false on failure (logged).
// If the machine has no device, it logs nothing and *why is a static text.
bool fleet_init(struct fleet *fleet, const char *text, const char *kernel_dir, const char **why);
void fleet_finish(struct fleet *fleet); // takes a zeroed fleet; no thread may use a device any more

// Returns the open device of a member and opens it first if needed. Any thread may call this: different members open
// at the same time. `lost` is the device that the caller found lost, NULL the first time. Returns NULL if the device
// cannot be opened (again); logged once.
struct device *fleet_device(struct fleet *fleet, int member, const struct device *lost);
