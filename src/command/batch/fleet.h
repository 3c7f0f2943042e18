// fleet.h: the OpenCL devices of a batch, shared by its threads: each opened once, and again after it was lost
#pragma once

#include "compute/device.h"

#include <pthread.h>

enum { FLEET_OPENINGS = 4 }; // of one device: a device that was lost this often is not tried again

struct fleet_member {
    struct device_info info;
    int number;           // in the list of `monocle devices`
    pthread_mutex_t lock; // guards the members below
    // The last one is in use. Lost ones stay open until the end, because another thread may still use them.
    struct device *device[FLEET_OPENINGS];
    int openings;
};

struct fleet {
    struct fleet_member member[DEVICE_MAX];
    int count;
    const char *kernel_dir;
};

// Selects the devices that `text` names (as device_choose does) and opens none yet. "all" selects every GPU; on a
// machine without a GPU, every accelerator; without those too, every CPU device. Returns false on failure, which is
// logged; when there is no device at all, nothing is logged and *why is a static text.
bool fleet_init(struct fleet *fleet, const char *text, const char *kernel_dir, const char **why);
void fleet_finish(struct fleet *fleet); // takes a zeroed one

// Returns the open device of a member and opens it first if needed. Any thread may call this: different members open
// at the same time. `lost` is the device that the caller found lost, NULL the first time. Returns NULL if the device
// cannot be opened (again); logged once.
struct device *fleet_device(struct fleet *fleet, int member, const struct device *lost);
