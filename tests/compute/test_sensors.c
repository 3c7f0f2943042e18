// test_sensors.c: the clock rate and the temperature of devices, read from a false /sys and a false NVML
#include "compute/energy.h"

#include "scratch.h"
#include "unit.h"

#include <sys/stat.h>

static struct scratch scratch;

// Writes a file of the false /sys.
static void put(const char *name, const char *text)
{
    char path[1200];
    snprintf(path, sizeof(path), "%s/sys/%s", scratch.dir, name);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    FILE *file = fopen(path, "w");
    CHECK(file && fprintf(file, "%s\n", text) > 0 && fclose(file) == 0);
}

static void check_sensors(struct energy_device device, int clock_mhz, int temperature_c)
{
    struct sensors sensors;
    device.root = scratch.dir;
    sensors_read(&device, &sensors);
    CHECK_NUMBER(sensors.clock_mhz, clock_mhz);
    CHECK_NUMBER(sensors.temperature_c, temperature_c);
}

int main(int argc, char **argv)
{
    const struct energy_device cpu = {.cpu = true}, mobile = {.cpu = false}, pci = {.pci = "0000:03:00.0"};
    if (!scratch_open(&scratch))
        return 1;
    check_sensors(cpu, 0, 0);
    check_sensors(mobile, 0, 0);
    check_sensors(pci, 0, 0);
    put("devices/system/cpu/cpufreq/policy0/scaling_cur_freq", "1800000");
    put("devices/system/cpu/cpufreq/policy4/scaling_cur_freq", "2400000");
    put("class/thermal/thermal_zone0/type", "acpitz");
    put("class/thermal/thermal_zone0/temp", "99000");
    put("class/thermal/thermal_zone1/type", "CPU-therm");
    put("class/thermal/thermal_zone1/temp", "41500");
    check_sensors(cpu, 2400, 41);
    put("class/hwmon/hwmon3/name", "k10temp");
    put("class/hwmon/hwmon3/temp1_input", "52000");
    check_sensors(cpu, 2400, 52);
    put("devices/system/cpu/cpufreq/policy0/scaling_cur_freq", "<unknown>");
    put("class/hwmon/hwmon3/temp1_input", "-5000");
    check_sensors(cpu, 2400, 41);
    put("class/devfreq/fb000000.gpu/cur_freq", "850000000");
    put("class/thermal/thermal_zone2/type", "gpu_thermal");
    put("class/thermal/thermal_zone2/temp", "60999");
    check_sensors(mobile, 850, 60);
    put("bus/pci/devices/0000:03:00.0/hwmon/hwmon5/freq1_input", "2100000000");
    put("bus/pci/devices/0000:03:00.0/hwmon/hwmon5/temp1_input", "71000");
    check_sensors(pci, 2100, 71);
    struct energy_device nvidia = {.nvidia = true, .library = argv[1], .pci = "0000:41:00.0"};
    check_sensors(nvidia, 1980, 44);
    strcpy(nvidia.pci, "0000:42:00.0");
    check_sensors(nvidia, 0, 0);
    nvidia.library = "libnone.so.1";
    check_sensors(nvidia, 0, 0);
    scratch_close(&scratch);
    return check_end(&unit);
}
