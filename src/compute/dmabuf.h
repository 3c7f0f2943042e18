// dmabuf.h: memory that another driver fills as a device's buffer, by cl_khr_external_memory_dma_buf
#pragma once

#include "compute/cl.h"

#include <stddef.h>
#include <stdint.h>

// What the extension adds. All NULL where the device does not have it.
struct dmabuf_calls {
    clEnqueueAcquireExternalMemObjectsKHR_fn acquire; // before each use by the device ...
    clEnqueueReleaseExternalMemObjectsKHR_fn release; // ... and behind it
};

struct dmabuf_calls dmabuf_look_up(cl_platform_id platform);

struct dmabuf {
    int fd;      // taken, whether it can be used or not
    uint8_t *at; // the same memory in ours; may be written to
    size_t bytes;
};

// A buffer of that memory, proven: the device has read there what was written here. It holds the memory by itself. NULL
// where it cannot be had, and why (log_info).
cl_mem dmabuf_import(const struct dmabuf_calls *calls, cl_context context, cl_command_queue queue,
                     const struct dmabuf *from);
