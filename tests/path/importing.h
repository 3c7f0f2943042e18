// importing.h: a stand-in for the extensions that import dma-bufs, which no driver here has
#pragma once

#include "compute/memory.h"

#include <stdatomic.h>
#include <stdbool.h>

// Linked with --wrap of the functions in importing.c. Every device has the extension. An imported file is mapped as the
// memory of the device's buffer. With DMABUF_KHR, it is accessible only between acquire and release.
struct importing {
    enum dmabuf_way way;
    bool old;         // DMABUF_ARM: without the property for consistency with the host
    bool unified;     // devices share the host's memory, but import none of it; false: discrete devices
    bool refuses;     // every import fails
    bool blind;       // imported memory has other bytes
    bool partial;     // imported memory has the right bytes only in its first page
    bool half;        // the driver lacks a function
    atomic_int asked; // imports so far, including refused ones
    atomic_int alive; // buffers that are imports
    atomic_int held;  // buffers that are acquired
    cl_event gate;    // release waits for it; NULL: for nothing
};
extern struct importing importing;
