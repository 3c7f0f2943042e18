// oclgrind.c: replaces OpenCL calls that Oclgrind 21.10 does not understand by calls that it does
//
// Oclgrind keeps a record of the initialised bytes under a buffer's number. A later buffer gets the number of a
// released buffer, and with it a record of the wrong size, so this file releases no buffer. Oclgrind also treats the
// host's memory (CL_MEM_USE_HOST_PTR) as uninitialised, so this file copies that memory. Oclgrind treats
// filled buffers as uninitialised too, so this file writes them.
#include "compute/cl.h"

#include <stdlib.h>
#include <string.h>

cl_mem __real_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host, cl_int *result);
cl_mem __wrap_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host, cl_int *result);
cl_int __wrap_clReleaseMemObject(cl_mem memory);
cl_int __wrap_clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer, const void *pattern, size_t pattern_bytes,
                                  size_t offset, size_t bytes, cl_uint count, const cl_event *after, cl_event *event);

cl_mem __wrap_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host, cl_int *result)
{
    if (flags & CL_MEM_USE_HOST_PTR)
        flags = (flags & ~(cl_mem_flags)CL_MEM_USE_HOST_PTR) | CL_MEM_COPY_HOST_PTR;
    return __real_clCreateBuffer(context, flags, bytes, host, result);
}

cl_int __wrap_clReleaseMemObject(cl_mem memory)
{
    return CL_SUCCESS;
}

cl_int __wrap_clEnqueueFillBuffer(cl_command_queue queue, cl_mem buffer, const void *pattern, size_t pattern_bytes,
                                  size_t offset, size_t bytes, cl_uint count, const cl_event *after, cl_event *event)
{
    char *filled = malloc(bytes);
    if (!filled)
        return CL_OUT_OF_HOST_MEMORY;
    for (size_t i = 0; i + pattern_bytes <= bytes; i += pattern_bytes)
        memcpy(filled + i, pattern, pattern_bytes);
    const cl_int result = clEnqueueWriteBuffer(queue, buffer, CL_TRUE, offset, bytes, filled, count, after, event);
    free(filled);
    return result;
}
