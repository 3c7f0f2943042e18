// copy.h: plain copies within a device's memory, the limit that passes are set beside
#pragma once

#include "compute/device.h"
#include "compute/timing.h"

struct device_copy;

// Memory for copies of `bytes`: that many sources, filled with random bytes, and two places to copy to; both take
// turns. Finds out which way of copying is the fastest here: the driver's own copy, or a kernel. NULL on failure
// (logged).
struct device_copy *device_copy_open(struct device *device, size_t bytes, int sources);
void device_copy_close(struct device_copy *copy); // takes NULL
// "driver" for the driver's own copy, "kernel by 4" for a kernel that copies 4 times 16 bytes per work-item.
const char *device_copy_way(const struct device_copy *copy);

bool device_copy_run(struct device_copy *copy, int runs, struct timing *timing);
