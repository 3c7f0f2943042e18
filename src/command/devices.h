// devices.h: tests which sharing modes an OpenCL device supports, by trying them
#pragma once

#include "compute/device.h"

#include <stdbool.h>

enum { PROBE_RUNGS = 3 };

struct probe_rung {
    const char *name; // "gl-shared", "mapped" or "opencl"
    bool works;
    char why[256]; // one line: why it works or fails
};

struct probe {
    bool opens; // the device can be opened; otherwise the reason is logged
    struct probe_rung rung[PROBE_RUNGS];
};

// Probes every device: opens it and runs a small frame in each sharing mode. Opens hidden windows for gl-shared. Uses
// GL and GLFW, so call it on the main thread only.
void probe_devices(const struct device_info *devices, int count, struct probe *probes);
