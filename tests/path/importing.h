// importing.h: a stand-in for cl_khr_external_memory_dma_buf, which no driver here has
#pragma once

#include "compute/cl.h"

#include <stdatomic.h>
#include <stdbool.h>

// Linked with --wrap of the functions in importing.c. Every device has the extension. An imported file is mapped as the
// memory of the device's buffer, and is accessible only between acquire and release.
struct importing {
    bool unified;     // devices share the host's memory, but import none of it; false: discrete devices
    bool refuses;     // every import fails
    bool blind;       // imported memory has other bytes
    bool partial;     // imported memory has the right bytes only in its first page
    bool half;        // the driver lacks the release call
    atomic_int asked; // imports so far, including refused ones
    atomic_int alive; // buffers that are imports
    atomic_int held;  // buffers that are acquired
    cl_event gate;    // release waits for it; NULL: for nothing
};
extern struct importing importing;
