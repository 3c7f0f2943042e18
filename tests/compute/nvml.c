// nvml.c: a library with the functions of NVIDIA's NVML that monocle uses, for one GPU
//
// Its energy is 1000 mJ at first and grows by 250 mJ with each call. TEST_NVML: "power": it has no counter of energy.
// "none": it has no GPU.
#include <stdlib.h>
#include <string.h>

int nvmlInit_v2(void);
int nvmlShutdown(void);
int nvmlDeviceGetCount_v2(unsigned *count);
int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device);
int nvmlDeviceGetHandleByPciBusId_v2(const char *pci, void **device);
int nvmlDeviceGetPowerUsage(void *device, unsigned *mw);
int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *mj);
int nvmlDeviceGetClockInfo(void *device, int clock, unsigned *mhz);
int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius);

enum { SUCCESS, NOT_SUPPORTED = 3, NOT_FOUND = 6 };
static int gpu;

static int is(const char *what)
{
    const char *how = getenv("TEST_NVML");
    return how && strcmp(how, what) == 0;
}

int nvmlInit_v2(void)
{
    return SUCCESS;
}

int nvmlShutdown(void)
{
    return SUCCESS;
}

int nvmlDeviceGetCount_v2(unsigned *count)
{
    *count = is("none") ? 0 : 1;
    return SUCCESS;
}

int nvmlDeviceGetHandleByIndex_v2(unsigned index, void **device)
{
    *device = &gpu;
    return index == 0 ? SUCCESS : NOT_FOUND;
}

int nvmlDeviceGetHandleByPciBusId_v2(const char *pci, void **device)
{
    *device = &gpu;
    return strcmp(pci, "0000:41:00.0") == 0 ? SUCCESS : NOT_FOUND;
}

int nvmlDeviceGetPowerUsage(void *device, unsigned *mw)
{
    *mw = 100000;
    return device == &gpu ? SUCCESS : NOT_FOUND;
}

int nvmlDeviceGetTotalEnergyConsumption(void *device, unsigned long long *mj)
{
    static unsigned long long counter = 750;
    *mj = counter += 250;
    return is("power") ? NOT_SUPPORTED : SUCCESS;
}

int nvmlDeviceGetClockInfo(void *device, int clock, unsigned *mhz)
{
    *mhz = clock == 1 ? 1980 : 1;
    return device == &gpu ? SUCCESS : NOT_FOUND;
}

int nvmlDeviceGetTemperature(void *device, int sensor, unsigned *celsius)
{
    *celsius = sensor == 0 ? 44 : 1;
    return device == &gpu ? SUCCESS : NOT_FOUND;
}
