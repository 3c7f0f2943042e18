// cl.c: names OpenCL results and checks them
#include "compute/cl.h"

#include "base/driver_call.h"
#include "base/log.h"
#include "base/text.h"

#include <stdio.h>
#include <string.h>

static const struct result {
    cl_int result;
    const char *name;
    const char *advice; // NULL: none
    bool lost;
} results[] = {
    {CL_DEVICE_NOT_FOUND, "CL_DEVICE_NOT_FOUND", "install an OpenCL driver, or use -p cpu", false},
    {CL_DEVICE_NOT_AVAILABLE, "CL_DEVICE_NOT_AVAILABLE", "another program may use the device", true},
    {CL_COMPILER_NOT_AVAILABLE, "CL_COMPILER_NOT_AVAILABLE", "the driver has no compiler", false},
    {CL_MEM_OBJECT_ALLOCATION_FAILURE, "CL_MEM_OBJECT_ALLOCATION_FAILURE", "the device's memory is full", false},
    {CL_OUT_OF_RESOURCES, "CL_OUT_OF_RESOURCES", "the device failed or its memory is full", true},
    {CL_OUT_OF_HOST_MEMORY, "CL_OUT_OF_HOST_MEMORY", "the host's memory is full", false},
    {CL_BUILD_PROGRAM_FAILURE, "CL_BUILD_PROGRAM_FAILURE", NULL, false},
    {CL_MAP_FAILURE, "CL_MAP_FAILURE", NULL, false},
    {CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST, "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST",
     "an earlier command failed on the device", true},
    {CL_INVALID_VALUE, "CL_INVALID_VALUE", NULL, false},
    {CL_INVALID_DEVICE, "CL_INVALID_DEVICE", NULL, true},
    {CL_INVALID_CONTEXT, "CL_INVALID_CONTEXT", NULL, true},
    {CL_INVALID_COMMAND_QUEUE, "CL_INVALID_COMMAND_QUEUE", "the device was reset", true},
    {CL_INVALID_HOST_PTR, "CL_INVALID_HOST_PTR", NULL, false},
    {CL_INVALID_MEM_OBJECT, "CL_INVALID_MEM_OBJECT", NULL, false},
    {CL_INVALID_IMAGE_SIZE, "CL_INVALID_IMAGE_SIZE", "the image is larger than the device allows", false},
    {CL_INVALID_BINARY, "CL_INVALID_BINARY", NULL, false},
    {CL_INVALID_KERNEL_NAME, "CL_INVALID_KERNEL_NAME",
     "the file in --kernels has no such kernel, or the driver's cache is damaged: delete it (PoCL: ~/.cache/pocl)",
     false},
    {CL_INVALID_BUILD_OPTIONS, "CL_INVALID_BUILD_OPTIONS", NULL, false},
    {CL_INVALID_ARG_VALUE, "CL_INVALID_ARG_VALUE", NULL, false},
    {CL_INVALID_ARG_SIZE, "CL_INVALID_ARG_SIZE", NULL, false},
    {CL_INVALID_WORK_GROUP_SIZE, "CL_INVALID_WORK_GROUP_SIZE", NULL, false},
    {CL_INVALID_BUFFER_SIZE, "CL_INVALID_BUFFER_SIZE", "the image is larger than the device allows", false},
    {CL_INVALID_OPERATION, "CL_INVALID_OPERATION", NULL, false},
    {CL_INVALID_PROPERTY, "CL_INVALID_PROPERTY", NULL, false},
    {CL_INVALID_GL_OBJECT, "CL_INVALID_GL_OBJECT", NULL, false},
    {-1000, "CL_INVALID_GL_SHAREGROUP_REFERENCE_KHR", NULL, false},
    {-1001, "CL_PLATFORM_NOT_FOUND_KHR", "install an OpenCL driver, or use -p cpu", false},
    {-9999, "NVIDIA's -9999",
     "an illegal memory access on the device, or a driver that does not match the kernel module", true},
};

// Returns NULL if the result is not in the table.
static const struct result *find(cl_int result)
{
    for (size_t i = 0; i < sizeof(results) / sizeof(*results); i++) {
        if (results[i].result == result)
            return &results[i];
    }
    return NULL;
}

const char *compute_result_name(cl_int result)
{
    const struct result *known = find(result);
    if (known)
        return known->name;
    return result == CL_SUCCESS ? "CL_SUCCESS" : "unknown OpenCL error";
}

bool compute_device_lost(cl_int result)
{
    const struct result *known = find(result);
    return known && known->lost;
}

void compute_describe(char *text, size_t size, cl_int result, const char *doing)
{
    const struct result *known = find(result);
    const char *advice = known ? known->advice : NULL;
    snprintf(text, size, "cannot %s: %s (%d)%s%s", doing, compute_result_name(result), (int)result,
             text_if(advice, ": "), text_or(advice, ""));
}

bool compute_ok(cl_int result, const char *doing)
{
    char text[256];
    if (result == CL_SUCCESS)
        return true;
    compute_describe(text, sizeof(text), result, doing);
    log_error("%s", text);
    return false;
}

bool compute_lists(const char *extensions, const char *name)
{
    const size_t length = strlen(name);
    for (const char *at = extensions; (at = strstr(at, name)); at += length) {
        if ((at == extensions || at[-1] == ' ') && (at[length] == ' ' || at[length] == '\0'))
            return true;
    }
    return false;
}

cl_int compute_build(cl_program program, cl_device_id device, const char *options)
{
    driver_call_begin();
    const cl_int result = clBuildProgram(program, 1, &device, options, NULL, NULL);
    driver_call_end();
    return result;
}

cl_int compute_finish(cl_command_queue queue)
{
    driver_call_begin();
    const cl_int result = clFinish(queue);
    driver_call_end();
    return result;
}

cl_int compute_wait(cl_uint count, const cl_event *events)
{
    driver_call_begin();
    const cl_int result = clWaitForEvents(count, events);
    driver_call_end();
    return result;
}
