// discrete.c: makes every device seem to have dedicated memory, like a GPU, and spaces around its name, as some drivers
// report; linked into the program with --wrap=device_list and clGetDeviceInfo
#include "compute/cl.h"
#include "compute/device.h"

#include <string.h>

cl_int __real_clGetDeviceInfo(cl_device_id id, cl_device_info what, size_t room, void *value, size_t *size);
cl_int __wrap_clGetDeviceInfo(cl_device_id id, cl_device_info what, size_t room, void *value, size_t *size);

cl_int __wrap_clGetDeviceInfo(cl_device_id id, cl_device_info what, size_t room, void *value, size_t *size)
{
    char *text = value;
    if (what != CL_DEVICE_NAME || !text || room < 4)
        return __real_clGetDeviceInfo(id, what, room, value, size);
    memset(text, ' ', 2);
    const cl_int result = __real_clGetDeviceInfo(id, what, room - 3, text + 2, size);
    if (result == CL_SUCCESS)
        strcat(text, " ");
    return result;
}

int __real_device_list(struct device_info devices[DEVICE_MAX], const char **why);
int __wrap_device_list(struct device_info devices[DEVICE_MAX], const char **why);

int __wrap_device_list(struct device_info devices[DEVICE_MAX], const char **why)
{
    const int count = __real_device_list(devices, why);
    for (int i = 0; i < count; i++)
        devices[i].host_unified = false;
    return count;
}
