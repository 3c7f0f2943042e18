// dmabuf.c: memory that another driver fills as a device's buffer, by cl_khr_external_memory_dma_buf
#include "compute/dmabuf.h"

#include "base/log.h"

#include <string.h>
#include <unistd.h>

enum { PROOF_BYTES = 64 };

struct dmabuf_calls dmabuf_look_up(cl_platform_id platform)
{
    const struct dmabuf_calls calls = {
        (clEnqueueAcquireExternalMemObjectsKHR_fn)clGetExtensionFunctionAddressForPlatform(
            platform, "clEnqueueAcquireExternalMemObjectsKHR"),
        (clEnqueueReleaseExternalMemObjectsKHR_fn)clGetExtensionFunctionAddressForPlatform(
            platform, "clEnqueueReleaseExternalMemObjectsKHR"),
    };
    return calls.acquire && calls.release ? calls : (struct dmabuf_calls){0};
}

// What the device sees in the last bytes, so that all of the memory is there. NULL where it is what was written there,
// else why not.
static const char *disprove(const struct dmabuf_calls *calls, cl_command_queue queue, cl_mem buffer,
                            const struct dmabuf *from)
{
    uint8_t sent[PROOF_BYTES], seen[PROOF_BYTES] = {0};
    const size_t bytes = from->bytes < PROOF_BYTES ? from->bytes : PROOF_BYTES, start = from->bytes - bytes;
    for (size_t i = 0; i < PROOF_BYTES; i++)
        sent[i] = (uint8_t)(37 * i + 11);
    memcpy(from->at + start, sent, bytes);
    cl_int result = calls->acquire(queue, 1, &buffer, 0, NULL, NULL);
    if (result == CL_SUCCESS)
        result = clEnqueueReadBuffer(queue, buffer, CL_TRUE, start, bytes, seen, 0, NULL, NULL);
    if (result == CL_SUCCESS)
        result = calls->release(queue, 1, &buffer, 0, NULL, NULL);
    if (result == CL_SUCCESS)
        result = clFinish(queue);
    if (result != CL_SUCCESS)
        return compute_result_name(result);
    return memcmp(sent, seen, bytes) == 0 ? NULL : "it reads wrong bytes";
}

cl_mem dmabuf_import(const struct dmabuf_calls *calls, cl_context context, cl_command_queue queue,
                     const struct dmabuf *from)
{
    const cl_mem_properties properties[] = {CL_EXTERNAL_MEMORY_HANDLE_DMA_BUF_KHR, (cl_mem_properties)from->fd, 0};
    cl_int result;
    cl_mem buffer = clCreateBufferWithProperties(context, properties, CL_MEM_READ_ONLY, from->bytes, NULL, &result);
    if (!buffer)
        close(from->fd); // else it is the driver's now
    const char *why = buffer ? disprove(calls, queue, buffer, from) : compute_result_name(result);
    if (!why)
        return buffer;
    log_info("the device cannot import the camera's dma-buf (%s); monocle copies the frames", why);
    if (buffer)
        clReleaseMemObject(buffer);
    return NULL;
}
