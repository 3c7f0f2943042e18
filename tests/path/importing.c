// importing.c: a stand-in for the extensions that import dma-bufs, which no driver here has
#include "importing.h"

#include "base/pages.h"
#include "compute/device.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

struct importing importing;

enum { ADRENO_PADDING = 64 };

struct import {
    void *at;
    size_t bytes;
    int fd;
};

int __real_device_list(struct device_info devices[DEVICE_MAX], const char **why);
int __wrap_device_list(struct device_info devices[DEVICE_MAX], const char **why);
cl_mem __real_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host_ptr, cl_int *result);
cl_mem __wrap_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host_ptr, cl_int *result);
cl_mem __wrap_clCreateBufferWithProperties(cl_context context, const cl_mem_properties *properties, cl_mem_flags flags,
                                           size_t size, void *host_ptr, cl_int *result);
cl_int __real_clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t size, void *value, size_t *used);
cl_int __wrap_clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t size, void *value, size_t *used);
void *__real_clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char *name);
void *__wrap_clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char *name);

int __wrap_device_list(struct device_info devices[DEVICE_MAX], const char **why)
{
    const int count = __real_device_list(devices, why);
    for (int i = 0; i < count; i++) {
        devices[i].host_unified = importing.unified;
        devices[i].dmabuf = importing.way;
    }
    return count;
}

static void forget(cl_mem buffer, void *context)
{
    struct import *import = context;
    munmap(import->at, import->bytes);
    close(import->fd);
    free(import);
    importing.alive--;
}

// Imports the file `fd`, which becomes the buffer's with DMABUF_KHR. Without acquire, its memory is always accessible.
static cl_mem import(cl_context context, cl_mem_flags flags, size_t size, int fd, cl_int *result)
{
    const int access = importing.way == DMABUF_KHR ? PROT_NONE : PROT_READ;
    importing.asked++;
    *result = CL_INVALID_PROPERTY;
    if (importing.refuses)
        return NULL;
    struct import *import = malloc(sizeof(*import));
    *import = (struct import){.bytes = size, .fd = importing.way == DMABUF_KHR ? fd : dup(fd)};
    import->at = importing.blind ? mmap(NULL, size, access, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                 : mmap(NULL, size, access, MAP_SHARED, import->fd, 0);
    if (importing.partial)
        mmap((char *)import->at + PAGE_BYTES, size - PAGE_BYTES, access, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
             0);
    cl_mem buffer = import->at == MAP_FAILED
                        ? NULL
                        : __real_clCreateBuffer(context, flags | CL_MEM_USE_HOST_PTR, size, import->at, result);
    if (!buffer || clSetMemObjectDestructorCallback(buffer, forget, import) != CL_SUCCESS)
        abort();
    importing.alive++;
    return buffer;
}

cl_mem __wrap_clCreateBufferWithProperties(cl_context context, const cl_mem_properties *properties, cl_mem_flags flags,
                                           size_t size, void *host_ptr, cl_int *result)
{
    if (importing.way != DMABUF_KHR || host_ptr || properties[0] != CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR ||
        properties[2] != 0)
        abort();
    return import(context, flags, size, (int)properties[1], result);
}

static cl_mem CL_API_CALL import_arm(cl_context context, cl_mem_flags flags, const cl_import_properties_arm *properties,
                                     void *memory, size_t size, cl_int *result)
{
    *result = CL_INVALID_PROPERTY;
    if (properties[0] != CL_IMPORT_TYPE_ARM || properties[1] != CL_IMPORT_TYPE_DMA_BUF_ARM)
        abort();
    if (properties[2] != 0 && importing.old)
        return NULL;
    const bool consistent = properties[2] == CL_IMPORT_DMA_BUF_DATA_CONSISTENCY_WITH_HOST_ARM &&
                            properties[3] == CL_TRUE && properties[4] == 0;
    if (!consistent && !importing.old && !importing.refuses)
        abort();
    if (importing.refuses && consistent) // counted once
        return NULL;
    return import(context, flags, size, *(int *)memory, result);
}

// The structure of Qualcomm's header, by its layout.
struct adreno_memory {
    cl_uint type, policy;
    int fd;
    void *at;
};

cl_mem __wrap_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host_ptr, cl_int *result)
{
    if (!(flags & CL_MEM_USE_HOST_PTR))
        return __real_clCreateBuffer(context, flags, size, host_ptr, result);
    *result = CL_INVALID_HOST_PTR;
    if (!(flags & CL_MEM_EXT_HOST_PTR_QCOM))
        return NULL;
    const struct adreno_memory *memory = host_ptr;
    struct stat status;
    if (importing.way != DMABUF_QCOM || memory->type != 0x411D || memory->policy != CL_MEM_HOST_WRITEBACK_QCOM ||
        fstat(memory->fd, &status) != 0 || (size_t)status.st_size < size + ADRENO_PADDING)
        abort();
    return import(context, flags & ~(cl_mem_flags)CL_MEM_EXT_HOST_PTR_QCOM, size, memory->fd, result);
}

cl_int __wrap_clGetDeviceInfo(cl_device_id device, cl_device_info what, size_t size, void *value, size_t *used)
{
    if (what != CL_DEVICE_EXT_MEM_PADDING_IN_BYTES_QCOM)
        return __real_clGetDeviceInfo(device, what, size, value, used);
    if (importing.half || size != sizeof(cl_uint))
        return CL_INVALID_VALUE;
    *(cl_uint *)value = ADRENO_PADDING;
    return CL_SUCCESS;
}

// Completes when all earlier commands are complete, like a command in the queue.
static cl_int hand_over(cl_command_queue queue, cl_uint count, const cl_mem *buffers, cl_event *event, int access)
{
    clFinish(queue);
    importing.held += access == PROT_READ ? 1 : -1;
    for (cl_uint i = 0; i < count; i++) {
        void *at;
        size_t bytes;
        if (clGetMemObjectInfo(buffers[i], CL_MEM_HOST_PTR, sizeof(at), &at, NULL) != CL_SUCCESS ||
            clGetMemObjectInfo(buffers[i], CL_MEM_SIZE, sizeof(bytes), &bytes, NULL) != CL_SUCCESS ||
            mprotect(at, bytes, access) != 0)
            return CL_INVALID_MEM_OBJECT;
    }
    const bool waits = importing.gate && access == PROT_NONE;
    return event ? clEnqueueMarkerWithWaitList(queue, waits, waits ? &importing.gate : NULL, event) : CL_SUCCESS;
}

static cl_int CL_API_CALL acquire(cl_command_queue queue, cl_uint count, const cl_mem *buffers, cl_uint waits,
                                  const cl_event *wait, cl_event *event)
{
    return hand_over(queue, count, buffers, event, PROT_READ);
}

static cl_int CL_API_CALL release(cl_command_queue queue, cl_uint count, const cl_mem *buffers, cl_uint waits,
                                  const cl_event *wait, cl_event *event)
{
    return hand_over(queue, count, buffers, event, PROT_NONE);
}

void *__wrap_clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char *name)
{
    if (strcmp(name, "clEnqueueAcquireExternalMemObjectsKHR") == 0)
        return (void *)acquire;
    if (strcmp(name, "clEnqueueReleaseExternalMemObjectsKHR") == 0)
        return importing.half ? NULL : (void *)release;
    if (strcmp(name, "clImportMemoryARM") == 0)
        return importing.half ? NULL : (void *)import_arm;
    return __real_clGetExtensionFunctionAddressForPlatform(platform, name);
}
