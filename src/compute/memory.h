// memory.h: host memory that a device copies without the host: pinned buffers, lent memory
#pragma once

#include "base/alloc.h"
#include "compute/cl.h"

#include <stdint.h>

void memory_release(cl_mem memory); // accepts NULL

// A buffer with guard bytes before and after it, to find kernels that write beside it.
struct guarded {
    cl_mem buffer, whole; // `whole` has the guards, too; NULL if the buffer lies between pages
    size_t bytes, guard;  // of the buffer, and of each guard
    uint8_t *map, *at;    // between pages: the first page without access, and the buffer
};
enum { GUARDED_ALIGN = 4096 }; // a multiple of every device's alignment of sub-buffers
// Opens a buffer with guards of `guard` bytes, a multiple of GUARDED_ALIGN, or smaller ones if the device has no room.
// After a failure, the caller closes it as well.
cl_int guarded_open(struct guarded *guarded, cl_context context, cl_command_queue queue, size_t bytes, size_t guard);
// Opens a buffer between 64 MiB of pages without access on each side, where a kernel's access is a fault of this
// process. The last page has at most the device's alignment - 1 guard bytes after the buffer. Returns false if the
// device is no CPU, or does not run kernels on the host's memory in place: the caller then uses guarded_open.
bool guarded_open_pages(struct guarded *guarded, cl_context context, cl_command_queue queue, size_t bytes);
void guarded_close(struct guarded *guarded); // accepts an empty one
// Waits, and sets *outside to the index of a changed byte of a guard: negative, or `bytes` and more. 0: none has
// changed, or there are no guards.
cl_int guarded_check(const struct guarded *guarded, cl_command_queue queue, int64_t *outside);
// Returns the index of the byte at this address, if it lies in a page without access; 0: it does not.
int64_t guarded_fault(const struct guarded *guarded, const void *address);

// A buffer of pinned host memory, mapped until it is closed.
struct pinned {
    cl_mem buffer;
    uint8_t *at;
};
cl_int pinned_open(struct pinned *pinned, cl_context context, cl_command_queue queue, size_t bytes);
void pinned_close(struct pinned *pinned, cl_command_queue queue); // accepts an empty or partly opened one

// A buffer that kernels write and the host then reads.
enum download_way {
    DOWNLOAD_NONE,   // the host does not read it
    DOWNLOAD_MAPPED, // mapped for the host: for devices that share the host's memory
    DOWNLOAD_COPIED, // copied to pinned memory
};
struct download {
    enum download_way way;
    cl_mem buffer;
    struct pinned pinned; // for DOWNLOAD_COPIED
    uint8_t *at;          // the bytes, once `done` is complete; NULL: the host does not have them
    size_t bytes;
    cl_event done; // of the latest start; the caller releases it
};
// `flags` are added to CL_MEM_READ_WRITE. After a failure, the caller closes it as well.
cl_int download_open(struct download *download, cl_context context, cl_command_queue queue, cl_mem_flags flags,
                     size_t bytes, enum download_way way);
void download_close(struct download *download, cl_command_queue queue); // accepts an empty one
// Starts the map or copy after the event `after`, and flushes the queue. Not for DOWNLOAD_NONE.
cl_int download_start(struct download *download, cl_command_queue queue, cl_event after);
// Returns the buffer to the kernels. `at` becomes NULL; a mapped buffer is unmapped.
cl_int download_reclaim(struct download *download, cl_command_queue queue);

// Opens the owner of pinned memory, which a device copies from without the host. After a failed attempt (log_info), it
// does not ask the driver again. NULL on failure (logged).
struct pages_owner *lender_open(cl_context context, cl_device_id device);
void lender_close(struct pages_owner *lender); // accepts NULL; all memory must have been given back
// Returns true if these bytes lie in pinned memory that the lender has lent. On any thread. Accepts NULL.
bool lender_find(struct pages_owner *lender, const void *at, size_t bytes);
