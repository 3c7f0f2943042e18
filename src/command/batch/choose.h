// choose.h: whether a batch runs on the processor or on OpenCL devices, by estimated time
#pragma once

#include <stddef.h>

// What one picture costs on one path, in milliseconds.
struct cost {
    double codec_ms;  // processor time to decode and encode it
    double filter_ms; // processor time of everything in between: the passes, or a device's copies and launches
    double device_ms; // time for which a device is busy with it; 0 on the cpu path
    double open_ms;   // time to open a path of a device for it, memory included; 0 on the cpu path
};

// About how long a device takes before its first picture: the driver, the context, the kernels. One file took 0.66 s
// longer by `opencl` than by `cpu` on an H200 (driver 580, kernels in the cache).
enum { COST_START_MS = 600 };

// Estimates how long a batch takes, in milliseconds. Jobs share the processors, and devices the pictures; a driver
// opens the paths of all jobs one after another.
double cost_batch_ms(const struct cost *cost, size_t files, int jobs, int devices);
