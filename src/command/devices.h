// devices.h: finds out what an OpenCL device can do for the paths, by trying it
#pragma once

#include "compute/device.h"

#include <stdbool.h>

enum { PROBE_RUNGS = 3 };

struct probe_rung {
    const char *name; // "gl-shared", "mapped", "opencl"; the last one, "cpu", needs no device
    bool works;
    char why[256]; // one line: why it does or doesn't
};

struct probe {
    bool opens; // the device can be opened at all; logged where it can't
    struct probe_rung rung[PROBE_RUNGS];
};

// Probes every device: opens it, and puts a small frame through each rung. Opens hidden windows for the first rung. GL
// and GLFW are used, so on the main thread only.
void probe_devices(const struct device_info *devices, int count, struct probe *probes);
