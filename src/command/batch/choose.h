// choose.h: estimates whether a batch is faster on the cpu path or on OpenCL devices
#pragma once

#include <stddef.h>

// The cost of one image on one path, in milliseconds
struct cost {
    double codec_ms;  // CPU time to decode and encode it
    double filter_ms; // CPU time of the rest: the passes, or a device's copies and launches
    double device_ms; // time that a device is busy with it; 0 on the cpu path
    double open_ms;   // time to open a path on a device, memory included; 0 on the cpu path
};

// Estimated time before a device processes its first image: driver, context, kernels. One file took 0.66 s longer with
// `opencl` than with `cpu` on an H200 (driver 580, kernels in the cache).
enum { COST_START_MS = 600 };

// Estimates the time of a batch, in milliseconds. The jobs share the CPUs, the devices share the images, and a driver
// opens the paths of all jobs one after the other.
double cost_batch_ms(const struct cost *cost, size_t files, int jobs, int devices);
