// device_energy.h: the energy counter, the clock rate and the temperature of an OpenCL device
#pragma once

#include "base/energy.h"
#include "base/sensors.h"
#include "compute/device.h"

// Opens the counter of the device (base/energy.h). NULL: there is none; `why` has the reason. Logs nothing.
struct energy *device_energy_open(const struct device_info *info, char why[ENERGY_WHY]);
// Reads the clock rate and the temperature now (base/sensors.h).
void device_sensors_read(const struct device_info *info, struct sensors *sensors);
