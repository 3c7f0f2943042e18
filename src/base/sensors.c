// sensors.c: reads the clock rate and the temperature of a device
#include "base/sensors.h"

#include "base/file.h"
#include "base/nvml.h"

#include <glob.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>

enum { KHZ = 1000, HZ = 1000 * 1000, MILLIDEGREES = 1000, MOST = 1 << 17 };

// Raises *value to the highest number in the files that match, in units of `unit`. Ignores impossible values.
static void raise_to(int *value, uint64_t unit, const char *pattern)
{
    glob_t found;
    if (glob(pattern, 0, NULL, &found) == 0) {
        for (size_t i = 0; i < found.gl_pathc; i++) {
            uint64_t number;
            if (file_read_number(found.gl_pathv[i], &number) && number / unit < MOST && (int)(number / unit) > *value)
                *value = (int)(number / unit);
        }
        globfree(&found);
    }
}

// Reads the temperature beside each file `pattern` whose text contains one of the words.
static void read_temperature(int *value, const char *pattern, const char *const *words, const char *file)
{
    glob_t found;
    if (glob(pattern, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char *path = found.gl_pathv[i], name[FILE_WORD], beside[PATH_MAX];
        file_read_word(path, name);
        for (const char *const *word = words; *word; word++) {
            if (!strcasestr(name, *word))
                continue;
            snprintf(beside, sizeof(beside), "%.*s/%s", (int)(strrchr(path, '/') - path), path, file);
            raise_to(value, MILLIDEGREES, beside);
        }
    }
    globfree(&found);
}

static void read_thermal(int *value, const char *root, const char *const *words)
{
    char pattern[PATH_MAX];
    snprintf(pattern, sizeof(pattern), "%s/sys/class/thermal/thermal_zone*/type", root);
    read_temperature(value, pattern, words, "temp");
    snprintf(pattern, sizeof(pattern), "%s/sys/class/hwmon/hwmon*/name", root);
    read_temperature(value, pattern, words, "temp1_input");
}

static void read_processor(struct sensors *sensors, const char *root)
{
    // The first four are the sensors of Intel's and AMD's processors.
    static const char *const words[] = {"x86_pkg_temp", "coretemp", "k10temp", "zenpower", "cpu", NULL};
    char pattern[PATH_MAX];
    snprintf(pattern, sizeof(pattern), "%s/sys/devices/system/cpu/cpufreq/policy*/scaling_cur_freq", root);
    raise_to(&sensors->clock_mhz, KHZ, pattern);
    read_thermal(&sensors->temperature_c, root, words);
}

// Reads the files of a GPU's driver; without a PCI address, those of a GPU on a processor's chip.
static void read_gpu(struct sensors *sensors, const char *root, const char *pci)
{
    static const char *const words[] = {"gpu", NULL};
    char pattern[PATH_MAX];
    if (pci)
        snprintf(pattern, sizeof(pattern), "%s/sys/bus/pci/devices/%s/hwmon/hwmon*/freq1_input", root, pci);
    else
        snprintf(pattern, sizeof(pattern), "%s/sys/class/devfreq/*gpu*/cur_freq", root);
    raise_to(&sensors->clock_mhz, HZ, pattern);
    if (pci) {
        snprintf(pattern, sizeof(pattern), "%s/sys/bus/pci/devices/%s/hwmon/hwmon*/temp1_input", root, pci);
        raise_to(&sensors->temperature_c, MILLIDEGREES, pattern);
    } else {
        read_thermal(&sensors->temperature_c, root, words);
    }
}

static void read_nvidia(struct sensors *sensors, const struct energy_device *device)
{
    struct nvml nvml;
    char why[ENERGY_WHY];
    unsigned value;
    if (nvml_open(&nvml, device->library, device->pci, why, sizeof(why))) {
        if (nvml.clock && nvml.clock(nvml.device, NVML_CLOCK_SM, &value) == 0 && value < MOST)
            sensors->clock_mhz = (int)value;
        if (nvml.temperature && nvml.temperature(nvml.device, NVML_TEMPERATURE_GPU, &value) == 0 && value < MOST)
            sensors->temperature_c = (int)value;
    }
    nvml_close(&nvml);
}

void sensors_read(const struct energy_device *device, struct sensors *sensors)
{
    const char *root = device->root ? device->root : "";
    *sensors = (struct sensors){0};
    if (device->cpu)
        read_processor(sensors, root);
    else if (device->nvidia)
        read_nvidia(sensors, device);
    else
        read_gpu(sensors, root, device->pci);
}
