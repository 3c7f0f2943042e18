// oclgrind.c: the OpenCL calls that Oclgrind 21.10 cannot follow, replaced by calls that it can
//
// Oclgrind records which bytes of a buffer are initialised by the buffer's number. A later buffer gets the number of a
// released one, and with it a record of the wrong size. So this file releases nothing. Oclgrind also takes the host's
// memory (CL_MEM_USE_HOST_PTR) for uninitialised, so this file has it copied.
#include "compute/cl.h"

cl_mem __real_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host, cl_int *result);
cl_mem __wrap_clCreateBuffer(cl_context context, cl_mem_flags flags, size_t bytes, void *host, cl_int *result);
cl_int __wrap_clReleaseMemObject(cl_mem memory);

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
