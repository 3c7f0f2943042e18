// memory.h: host memory that a device copies without the host: pinned buffers, lent memory, imported dma-bufs
#pragma once

#include "base/pages.h"
#include "compute/cl.h"

#include <stdint.h>

// ---- dma-bufs: memory of other drivers, in the ways that OpenCL drivers have ----

// The extension that imports.
enum dmabuf_way {
    DMABUF_NONE,
    DMABUF_KHR,  // cl_khr_external_memory with handles of dma-bufs, in OpenCL 3.0
    DMABUF_ARM,  // cl_arm_import_memory_dma_buf (Mali)
    DMABUF_QCOM, // cl_qcom_dmabuf_host_ptr (Adreno)
};

// Returns the way of a device with these extensions (separated by blanks) and this version.
enum dmabuf_way dmabuf_find_way(cl_device_id device, const char *extensions, const char *version);

// How a device imports.
struct dmabuf_importer {
    enum dmabuf_way way;
    clEnqueueAcquireExternalMemObjectsKHR_fn acquire; // before each use of an imported buffer; NULL: not needed
    clEnqueueReleaseExternalMemObjectsKHR_fn release; // after it
    cl_mem(CL_API_CALL *import_arm)(cl_context context, cl_mem_flags flags, const cl_import_properties_arm *properties,
                                    void *memory, size_t size, cl_int *result); // clImportMemoryARM
    size_t padding; // of DMABUF_QCOM: bytes at the end of the memory that the buffer cannot have
};

// Looks up the functions of the device's driver. Without them, `way` is DMABUF_NONE.
struct dmabuf_importer dmabuf_importer(cl_platform_id platform, cl_device_id device, enum dmabuf_way way);

// Makes a buffer for reading from the dma-buf `fd`, whose `*bytes` are mapped at `at`. *bytes becomes the size of the
// buffer. Takes the descriptor if *taken becomes true. NULL on failure, with *result set.
cl_mem dmabuf_import(const struct dmabuf_importer *importer, cl_context context, int fd, void *at, size_t *bytes,
                     bool *taken, cl_int *result);

// ---- memory ----

void memory_release(cl_mem memory); // accepts NULL

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

// Opens the owner of memory that a device copies from without the host. If `lends` is true, it lends pinned memory
// (`take`); if the `importer` (borrowed) has a way, it imports dma-bufs (`import`). After a failed attempt (log_info)
// it does not ask the driver again. NULL on failure (logged).
struct pages_owner *lender_open(cl_context context, cl_device_id device, bool lends,
                                const struct dmabuf_importer *importer);
void lender_close(struct pages_owner *lender); // accepts NULL; all memory must have been given back
// Returns true if these bytes lie in pinned memory that the lender has lent, or begin imported memory. *imported is
// then NULL or the buffer of the imported memory, which the caller releases. On any thread. Accepts NULL.
bool lender_find(struct pages_owner *lender, const void *at, size_t bytes, cl_mem *imported);
