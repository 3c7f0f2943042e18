// importing.c: a stand-in for cl_khr_external_memory_dma_buf, which no driver here has
#include "importing.h"

#include "base/pages.h"
#include "compute/device.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

struct importing importing;

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
void *__real_clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char *name);
void *__wrap_clGetExtensionFunctionAddressForPlatform(cl_platform_id platform, const char *name);

int __wrap_device_list(struct device_info devices[DEVICE_MAX], const char **why)
{
    const int count = __real_device_list(devices, why);
    for (int i = 0; i < count; i++) {
        devices[i].host_unified = importing.unified;
        devices[i].dmabuf = true;
    }
    return count;
}

cl_mem __wrap_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t size, void *host_ptr, cl_int *result)
{
    if (!(flags & CL_MEM_USE_HOST_PTR))
        return __real_clCreateBuffer(context, flags, size, host_ptr, result);
    *result = CL_INVALID_HOST_PTR;
    return NULL;
}

static void forget(cl_mem buffer, void *context)
{
    struct import *import = context;
    munmap(import->at, import->bytes);
    close(import->fd);
    free(import);
    importing.alive--;
}

cl_mem __wrap_clCreateBufferWithProperties(cl_context context, const cl_mem_properties *properties, cl_mem_flags flags,
                                           size_t size, void *host_ptr, cl_int *result)
{
    importing.asked++;
    *result = CL_INVALID_PROPERTY;
    if (importing.refuses || host_ptr || properties[0] != CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR || properties[2] != 0)
        return NULL;
    struct import *import = malloc(sizeof(*import));
    *import = (struct import){.bytes = size, .fd = (int)properties[1]};
    import->at = importing.blind ? mmap(NULL, size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0)
                                 : mmap(NULL, size, PROT_NONE, MAP_SHARED, import->fd, 0);
    if (importing.partial)
        mmap((char *)import->at + PAGE_BYTES, size - PAGE_BYTES, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1,
             0);
    cl_mem buffer = import->at == MAP_FAILED
                        ? NULL
                        : __real_clCreateBuffer(context, flags | CL_MEM_USE_HOST_PTR, size, import->at, result);
    if (!buffer || clSetMemObjectDestructorCallback(buffer, forget, import) != CL_SUCCESS)
        abort();
    importing.alive++;
    return buffer;
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
    return __real_clGetExtensionFunctionAddressForPlatform(platform, name);
}
