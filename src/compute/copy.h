// copy.h: measures plain copies within a device's memory; the speed of passes is compared with theirs
#pragma once

#include "compute/device.h"
#include "compute/timing.h"

struct device_copy;

// Allocates `sources` sources and two targets of `bytes` each, used in turn, and fills them with random bytes. Measures
// the driver's own copy and the kernels, and selects the fastest. NULL on failure (logged).
struct device_copy *device_copy_open(struct device *device, size_t bytes, int sources);
void device_copy_close(struct device_copy *copy); // accepts NULL

// Makes 1 to TIMING_RUNS copies; the times are those of `bytes`. False on failure (logged).
bool device_copy_run(struct device_copy *copy, int runs, struct timing *timing);
