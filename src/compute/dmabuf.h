// dmabuf.h: buffers over dma-bufs, memory of other drivers, in the ways that OpenCL drivers have
#pragma once

#include "compute/cl.h"

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
