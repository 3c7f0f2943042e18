// nvml.h: NVIDIA's library NVML, which is loaded only for an NVIDIA GPU; logs nothing
#pragma once

#include <stdbool.h>
#include <stddef.h>

// The functions for a GPU; they take `device`. A result of 0 is success.
struct nvml {
    void *library, *device;
    int (*init)(void);
    int (*shutdown)(void);
    int (*count)(unsigned *count);
    int (*by_index)(unsigned index, void **device);
    int (*by_pci)(const char *pci, void **device);
    int (*power)(void *device, unsigned *mw);
    // NULL: this library has no such function.
    int (*energy)(void *device, unsigned long long *mj);
    int (*clock)(void *device, int clock, unsigned *mhz);
    int (*temperature)(void *device, int sensor, unsigned *celsius);
};
enum { NVML_CLOCK_SM = 1, NVML_TEMPERATURE_GPU = 0 };

// Finds the GPU with this PCI address; NULL: the only one. `library` NULL: libnvidia-ml.so.1. False on failure: `why`
// has the reason, and the caller closes it as well.
bool nvml_open(struct nvml *nvml, const char *library, const char *pci, char *why, size_t size);
void nvml_close(struct nvml *nvml); // accepts a zeroed one
