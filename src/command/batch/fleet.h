// fleet.h: the OpenCL devices of a batch, shared by its threads: opened once, and anew where one was lost
#pragma once

#include "compute/device.h"

#include <pthread.h>

enum { FLEET_OPENINGS = 4 }; // of one device: a device that is lost so often is not worth another try

struct fleet_member {
    struct device_info info;
    int number;                            // as `monocle devices` counts
    struct device *device[FLEET_OPENINGS]; // the last one is in use; lost ones are closed at the end, when nobody can
                                           // be using them any more
    int openings;
};

struct fleet {
    struct fleet_member member[DEVICE_MAX];
    int count;
    const char *kernel_dir;
    pthread_mutex_t lock; // over the openings
};

// The devices that `text` means, "all" for every one. Opens none yet. False on failure: logged, or, where
// there is no device at all, *why is a static text.
bool fleet_init(struct fleet *fleet, const char *text, const char *kernel_dir, const char **why);
void fleet_finish(struct fleet *fleet); // takes a zeroed one

// The open device of a member; `lost` is the one that the caller has found lost, NULL the first time. NULL where it
// cannot be opened (again); logged.
struct device *fleet_device(struct fleet *fleet, int member, const struct device *lost);
