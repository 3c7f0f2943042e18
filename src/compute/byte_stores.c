// byte_stores.c: a test whether a device stores single bytes
#include "base/alloc.h"
#include "compute/device.h"

#include "compute/memory.h"
#include "compute/program.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 67, BEFORE = 0xa5 };

// Runs the kernel on a buffer of these bytes.
static cl_int run(struct device *device, cl_kernel kernel, uint8_t bytes[BYTES])
{
    cl_int result;
    cl_command_queue queue = device_queue(device, false, &result);
    cl_mem buffer = NULL;
    struct device_span span = {0};
    if (result == CL_SUCCESS)
        buffer = clCreateBuffer(device->context, CL_MEM_READ_WRITE | CL_MEM_COPY_HOST_PTR, BYTES, bytes, &result);
    if (result == CL_SUCCESS)
        result = kernel_run(kernel, queue, &(struct kernel_argument){sizeof(buffer), &buffer}, 1, (size_t[2]){0, 0},
                            (size_t[2]){BYTES, 1}, (size_t[2]){1, 1}, NULL, &span);
    if (result == CL_SUCCESS)
        result = clEnqueueReadBuffer(queue, buffer, CL_TRUE, 0, BYTES, bytes, 0, NULL, NULL);
    span_release(&span);
    memory_release(buffer);
    if (queue)
        clReleaseCommandQueue(queue);
    return result;
}

bool byte_stores_work(struct device *device, char **error)
{
    uint8_t got[BYTES], want[BYTES];
    *error = NULL;
    if (device->info.type & CL_DEVICE_TYPE_CPU || device->stores_bytes)
        return true;
    cl_kernel kernel = program_file_kernel(device, "byte_stores.cl", "-cl-std=CL1.2", "store_bytes", error);
    if (!kernel)
        return false;
    for (int i = 0; i < BYTES; i++) {
        got[i] = BEFORE;
        want[i] = i % 3 == 1 ? BEFORE : (uint8_t)(i * 7 + 3);
    }
    const cl_int result = run(device, kernel, got);
    clReleaseKernel(kernel);
    char text[256] = "";
    if (result != CL_SUCCESS)
        compute_describe(text, sizeof(text), result, "test whether the device stores bytes");
    else if (memcmp(got, want, BYTES) != 0)
        snprintf(text, sizeof(text), "the device does not store single bytes, which kernels need; use -p gl or -p cpu");
    else
        device->stores_bytes = true;
    if (text[0])
        *error = xstrdup(text);
    return device->stores_bytes;
}
