// sensors.h: the clock rate and the temperature of a device now; logs nothing
#pragma once

#include "base/energy.h"

struct sensors {
    int clock_mhz, temperature_c; // 0: unknown
};

// Reads NVML for an NVIDIA GPU, and /sys for other devices. A processor's clock is that of its fastest core.
void sensors_read(const struct energy_device *device, struct sensors *sensors);
