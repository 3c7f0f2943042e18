// importing.h: a stand-in for cl_khr_external_memory_dma_buf, which no driver here has
#pragma once

#include "compute/cl.h"

#include <stdatomic.h>
#include <stdbool.h>

// Linked with --wrap of the functions in importing.c. Every device has the extension. An imported file is mapped, and
// the device's buffer lies there; it can be touched only between being acquired and being released.
struct importing {
    bool unified;     // devices share the host's memory, but take none of it; else they have memory of their own
    bool refuses;     // nothing is imported
    bool blind;       // what is imported shows something else
    bool partial;     // imported memory has the right bytes in its first page only
    bool half;        // the driver has no call to hand memory back
    atomic_int asked; // imports so far, refused ones too
    atomic_int alive; // buffers that are imports
    atomic_int held;  // buffers that are acquired
    cl_event gate;    // what handing back waits for; NULL: nothing
};
extern struct importing importing;
