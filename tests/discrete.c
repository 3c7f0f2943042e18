// discrete.c: linked into the program with --wrap=device_list: every device is taken to have memory of its own, as GPUs
// do
#include "compute/device.h"

int __real_device_list(struct device_info devices[DEVICE_MAX], const char **why);
int __wrap_device_list(struct device_info devices[DEVICE_MAX], const char **why);

int __wrap_device_list(struct device_info devices[DEVICE_MAX], const char **why)
{
    const int count = __real_device_list(devices, why);
    for (int i = 0; i < count; i++)
        devices[i].host_unified = false;
    return count;
}
