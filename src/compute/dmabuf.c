// dmabuf.c: buffers over dma-bufs, memory of other drivers, in the ways that OpenCL drivers have
//
// Sources: the texts of the extensions in the Khronos registry (cl_khr_external_memory, cl_arm_import_memory,
// cl_qcom_ext_host_ptr); for cl_qcom_dmabuf_host_ptr, which has no text there, Qualcomm's header.
#include "compute/dmabuf.h"

#include <string.h>

enum { QCOM_DMABUF_HOST_PTR = 0x411D }; // CL_MEM_DMABUF_HOST_PTR_QCOM

// cl_mem_dmabuf_host_ptr, which Khronos's headers do not have.
struct qcom_dmabuf {
    cl_mem_ext_host_ptr external;
    int fd;
    void *at;
};

// Intel's driver lists cl_khr_external_memory, and not the extension of each type of handle.
static bool imports_khr(cl_device_id device, const char *extensions)
{
    cl_external_memory_handle_type_khr types[16];
    size_t bytes = 0;
    if (compute_lists(extensions, "cl_khr_external_memory_dma_buf"))
        return true;
    if (!compute_lists(extensions, "cl_khr_external_memory") ||
        clGetDeviceInfo(device, CL_DEVICE_EXTERNAL_MEMORY_IMPORT_HANDLE_TYPES_KHR, sizeof(types), types, &bytes) !=
            CL_SUCCESS)
        return false;
    for (size_t i = 0; i < bytes / sizeof(*types) && i < sizeof(types) / sizeof(*types); i++)
        if (types[i] == CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR)
            return true;
    return false;
}

enum dmabuf_way dmabuf_find_way(cl_device_id device, const char *extensions, const char *version)
{
    if (strncmp(version, "OpenCL 3.", 9) == 0 && imports_khr(device, extensions))
        return DMABUF_KHR;
    if (compute_lists(extensions, "cl_arm_import_memory_dma_buf"))
        return DMABUF_ARM;
    return compute_lists(extensions, "cl_qcom_dmabuf_host_ptr") ? DMABUF_QCOM : DMABUF_NONE;
}

struct dmabuf_importer dmabuf_importer(cl_platform_id platform, cl_device_id device, enum dmabuf_way way)
{
    struct dmabuf_importer importer = {.way = way};
    cl_uint padding = 0;
    bool ok = way != DMABUF_NONE;
    if (way == DMABUF_KHR) {
        importer.acquire = (clEnqueueAcquireExternalMemObjectsKHR_fn)clGetExtensionFunctionAddressForPlatform(
            platform, "clEnqueueAcquireExternalMemObjectsKHR");
        importer.release = (clEnqueueReleaseExternalMemObjectsKHR_fn)clGetExtensionFunctionAddressForPlatform(
            platform, "clEnqueueReleaseExternalMemObjectsKHR");
        ok = importer.acquire && importer.release;
    } else if (way == DMABUF_ARM) {
        *(void **)&importer.import_arm = clGetExtensionFunctionAddressForPlatform(platform, "clImportMemoryARM");
        ok = importer.import_arm;
    } else if (way == DMABUF_QCOM) {
        ok = clGetDeviceInfo(device, CL_DEVICE_EXT_MEM_PADDING_IN_BYTES_QCOM, sizeof(padding), &padding, NULL) ==
             CL_SUCCESS;
        importer.padding = padding;
    }
    return ok ? importer : (struct dmabuf_importer){.way = DMABUF_NONE};
}

// The driver keeps caches consistent with the host's writes, or does not know this property: older ones.
static cl_mem import_arm(const struct dmabuf_importer *importer, cl_context context, int fd, size_t bytes,
                         cl_int *result)
{
    const cl_import_properties_arm properties[] = {CL_IMPORT_TYPE_ARM, CL_IMPORT_TYPE_DMA_BUF_ARM,
                                                   CL_IMPORT_DMA_BUF_DATA_CONSISTENCY_WITH_HOST_ARM, CL_TRUE, 0};
    const cl_import_properties_arm fewer[] = {CL_IMPORT_TYPE_ARM, CL_IMPORT_TYPE_DMA_BUF_ARM, 0};
    const cl_mem buffer = importer->import_arm(context, CL_MEM_READ_ONLY, properties, &fd, bytes, result);
    return buffer ? buffer : importer->import_arm(context, CL_MEM_READ_ONLY, fewer, &fd, bytes, result);
}

cl_mem dmabuf_import(const struct dmabuf_importer *importer, cl_context context, int fd, void *at, size_t *bytes,
                     bool *taken, cl_int *result)
{
    const cl_mem_properties khr[] = {CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR, (cl_mem_properties)fd, 0};
    struct qcom_dmabuf qcom = {{QCOM_DMABUF_HOST_PTR, CL_MEM_HOST_WRITEBACK_QCOM}, fd, at};
    cl_mem buffer = NULL;
    *result = CL_INVALID_BUFFER_SIZE;
    *taken = false;
    switch (importer->way) {
    case DMABUF_KHR:
        buffer = clCreateBufferWithProperties(context, khr, CL_MEM_READ_ONLY, *bytes, NULL, result);
        *taken = buffer;
        break;
    case DMABUF_ARM:
        buffer = import_arm(importer, context, fd, *bytes, result);
        break;
    case DMABUF_QCOM:
        if (*bytes <= importer->padding)
            break;
        *bytes -= importer->padding;
        buffer = clCreateBuffer(context, CL_MEM_READ_ONLY | CL_MEM_USE_HOST_PTR | CL_MEM_EXT_HOST_PTR_QCOM, *bytes,
                                &qcom, result);
        break;
    case DMABUF_NONE:
        break;
    }
    return buffer;
}
