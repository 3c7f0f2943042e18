// energy.h: the energy that a device uses, its clock rate and its temperature; logs nothing
#pragma once

#include "compute/device.h"

#include <stdbool.h>
#include <stdint.h>

enum { ENERGY_WHY = 200, ENERGY_NAME = 64 };

struct energy_device {
    bool cpu;            // the processors of this machine
    bool nvidia;         // an NVIDIA GPU
    char pci[24];        // address of a GPU: "0000:01:00.0"; "": unknown
    const char *root;    // directory instead of "/", for tests; NULL: "/"
    const char *library; // instead of libnvidia-ml.so.1, for tests; NULL: that
};

struct energy;

// Opens the best counter of the device. Its sources, in order:
// - a processor: the energy of all packages (RAPL, /sys/class/powercap)
// - an NVIDIA GPU: its energy (NVML), or else its power, added up at each read
// - a board with power sensors, such as Jetson: the power of its input (INA3221, /sys/class/hwmon), added up likewise
// NULL: there is none that this user may read; `why` has the reason as half a sentence.
struct energy *energy_open(const struct energy_device *device, char why[ENERGY_WHY]);
void energy_close(struct energy *energy); // accepts NULL

const char *energy_name(const struct energy *energy); // "RAPL, 2 packages"
// Sets *uj to the microjoules since energy_open. Call at least every minute, because counters wrap around. False: the
// counter cannot be read, or has wrapped around at an unknown value: then the next call works. Only one thread may call
// this.
bool energy_read(struct energy *energy, uint64_t *uj);

// The energy and the time of one run.
struct energy_use {
    double mj, ms;
};

// Measures the energy of run(context, runs), which makes 1 to 64 runs and waits; a run takes about `run_ms`. Runs until
// the counter changes, then for `least_ms`, and until it changes again. False: a run failed, or the counter cannot be
// read or does not change within 0.5 s.
bool energy_measure(struct energy *energy, double run_ms, double least_ms, bool (*run)(void *context, int runs),
                    void *context, struct energy_use *use);

struct sensors {
    int clock_mhz, temperature_c; // 0: unknown
};

// Reads NVML for an NVIDIA GPU, and /sys for other devices. A processor's clock is that of its fastest core.
void sensors_read(const struct energy_device *device, struct sensors *sensors);

// The same for an OpenCL device.
struct energy *device_energy_open(const struct device_info *info, char why[ENERGY_WHY]);
void device_sensors_read(const struct device_info *info, struct sensors *sensors);
