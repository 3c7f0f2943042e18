// nvml.c: loads NVIDIA's library NVML and finds a GPU
#include "base/nvml.h"

#include <dlfcn.h>
#include <stdio.h>
#include <string.h>

static bool load(struct nvml *nvml, const char *name)
{
    const struct {
        const char *name;
        void *function;
        bool needed;
    } functions[] = {
        {"nvmlInit_v2", &nvml->init, true},
        {"nvmlShutdown", &nvml->shutdown, true},
        {"nvmlDeviceGetCount_v2", &nvml->count, true},
        {"nvmlDeviceGetHandleByIndex_v2", &nvml->by_index, true},
        {"nvmlDeviceGetHandleByPciBusId_v2", &nvml->by_pci, true},
        {"nvmlDeviceGetPowerUsage", &nvml->power, true},
        {"nvmlDeviceGetTotalEnergyConsumption", &nvml->energy, false},
        {"nvmlDeviceGetClockInfo", &nvml->clock, false},
        {"nvmlDeviceGetTemperature", &nvml->temperature, false},
    };
    nvml->library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    for (size_t i = 0; nvml->library && i < sizeof(functions) / sizeof(*functions); i++) {
        void *found = dlsym(nvml->library, functions[i].name);
        memcpy(functions[i].function, &found, sizeof(found));
        if (!found && functions[i].needed)
            return false;
    }
    return nvml->library;
}

static bool find_device(struct nvml *nvml, const char *pci)
{
    unsigned count;
    if (pci)
        return nvml->by_pci(pci, &nvml->device) == 0;
    return nvml->count(&count) == 0 && count == 1 && nvml->by_index(0, &nvml->device) == 0;
}

bool nvml_open(struct nvml *nvml, const char *library, const char *pci, char *why, size_t size)
{
    const char *name = library ? library : "libnvidia-ml.so.1";
    *nvml = (struct nvml){0};
    if (!load(nvml, name) || nvml->init() != 0) {
        snprintf(why, size, "NVIDIA's library %.100s cannot be used", name);
        nvml->init = NULL;
        return false;
    }
    snprintf(why, size, "NVML does not have this GPU, or has several and its PCI address is unknown");
    return find_device(nvml, pci);
}

void nvml_close(struct nvml *nvml)
{
    if (nvml->init)
        nvml->shutdown();
    if (nvml->library)
        dlclose(nvml->library);
    *nvml = (struct nvml){0};
}
