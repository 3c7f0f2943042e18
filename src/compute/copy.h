// copy.h: plain copies within a device's memory, the limit that passes are set beside
#pragma once

#include "compute/device.h"
#include "compute/timing.h"

struct device_copy;

// Memory to copy to and fro in, filled with random bytes: at least `bytes`, and room for copies of `largest` bytes.
// Finds out which way of copying so many is the fastest here: the driver's own copy, or a kernel. NULL on failure
// (logged).
struct device_copy *device_copy_open(struct device *device, size_t largest, size_t bytes);
void device_copy_close(struct device_copy *copy); // takes NULL
// "the driver's copy" or "16 bytes per work-item".
const char *device_copy_way(const struct device_copy *copy);

// Copies `bytes`, each run from and to other memory than the one before.
bool device_copy_run(struct device_copy *copy, size_t bytes, int runs, struct timing *timing);
