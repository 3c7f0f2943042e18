// energy.c: the energy, the clock rate and the temperature of a device: RAPL, NVML, and sensors of boards
#include "compute/energy.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/library.h"
#include "compute/cl.h"

#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- NVML ----

// The functions for a GPU; they take `device`. A result of 0 is success.
struct nvml {
    void *device;
    int (*init)(void);
    int (*shutdown)(void);
    int (*count)(unsigned *count);
    int (*by_index)(unsigned index, void **device);
    int (*by_pci)(const char *pci, void **device);
    int (*power)(void *device, unsigned *mw);
    // NULL: this library has no such function.
    int (*energy)(void *device, unsigned long long *mj);
    int (*clock)(void *device, int clock, unsigned *mhz);
    int (*temperature)(void *device, int sensor, unsigned *celsius);
};

enum { NVML_CLOCK_SM = 1, NVML_TEMPERATURE_GPU = 0 };

// Finds the GPU with this PCI address; "": the only one.
static bool find_gpu(struct nvml *nvml, const char *pci)
{
    unsigned count;
    if (pci[0])
        return nvml->by_pci(pci, &nvml->device) == 0;
    return nvml->count(&count) == 0 && count == 1 && nvml->by_index(0, &nvml->device) == 0;
}

// Finds the device. False on failure: `why` has the reason, and the caller closes it as well.
static bool nvml_open(struct nvml *nvml, const struct energy_device *device, char why[ENERGY_WHY])
{
    const char *name = device->library ? device->library : "libnvidia-ml.so.1";
    const struct library_function needed[] = {
        {"nvmlInit_v2", &nvml->init},
        {"nvmlShutdown", &nvml->shutdown},
        {"nvmlDeviceGetCount_v2", &nvml->count},
        {"nvmlDeviceGetHandleByIndex_v2", &nvml->by_index},
        {"nvmlDeviceGetHandleByPciBusId_v2", &nvml->by_pci},
        {"nvmlDeviceGetPowerUsage", &nvml->power},
    };
    const struct library_function optional[] = {
        {"nvmlDeviceGetTotalEnergyConsumption", &nvml->energy},
        {"nvmlDeviceGetClockInfo", &nvml->clock},
        {"nvmlDeviceGetTemperature", &nvml->temperature},
    };
    *nvml = (struct nvml){0};
    if (!library_load(name, needed, sizeof(needed) / sizeof(*needed)) || nvml->init() != 0) {
        snprintf(why, ENERGY_WHY, "NVIDIA's library %.100s cannot be used", name);
        nvml->init = NULL;
        return false;
    }
    for (size_t i = 0; i < sizeof(optional) / sizeof(*optional); i++)
        library_load(name, &optional[i], 1);
    snprintf(why, ENERGY_WHY, "NVML does not have this GPU, or has several and its PCI address is unknown");
    return find_gpu(nvml, device->pci);
}

// Accepts a zeroed one.
static void nvml_close(struct nvml *nvml)
{
    if (nvml->init)
        nvml->shutdown();
}

// ---- energy ----

enum { PACKAGES_MAX = 16, HWMONS_MAX = 64, CHANNELS = 8 };

// A file with a counter in microjoules.
struct package {
    char path[PATH_MAX];
    uint64_t last, range; // range: the counter wraps around after this value; 0: unknown
};

struct energy {
    char name[ENERGY_NAME];
    bool (*read)(struct energy *energy, uint64_t *uj);
    struct package package[PACKAGES_MAX];
    int packages;
    uint64_t uj; // of the packages
    struct nvml nvml;
    unsigned long long first_mj; // of NVML's counter

    // A source of power: `read` is read_power.
    bool (*power)(struct energy *energy, double *watts);
    char volts[PATH_MAX], amperes[PATH_MAX]; // files of a board's sensor, in mV and mA
    double joules, watts;                    // until the last read; at it
    int64_t read_ns;
};

// ---- power, added up ----

// Adds the energy since the last read, at the mean of both reads' power.
static bool read_power(struct energy *energy, uint64_t *uj)
{
    double watts;
    if (!energy->power(energy, &watts))
        return false;
    const int64_t now_ns = clock_now_ns();
    energy->joules += (double)(now_ns - energy->read_ns) / 1e9 * (energy->watts + watts) / 2;
    energy->read_ns = now_ns;
    energy->watts = watts;
    *uj = (uint64_t)(energy->joules * 1e6);
    return true;
}

// Returns false if the power cannot be read.
static bool start_power(struct energy *energy, bool (*power)(struct energy *energy, double *watts))
{
    energy->power = power;
    energy->read = read_power;
    energy->read_ns = clock_now_ns();
    return power(energy, &energy->watts);
}

// ---- processors ----

static bool read_packages(struct energy *energy, uint64_t *uj)
{
    bool ok = true;
    for (int i = 0; i < energy->packages; i++) {
        struct package *package = &energy->package[i];
        uint64_t now;
        if (!file_read_number(package->path, &now))
            return false;
        const uint64_t reached = now < package->last ? now + package->range : now;
        if (reached >= package->last)
            energy->uj += reached - package->last;
        else
            ok = false; // it wrapped around at an unknown value
        package->last = now;
    }
    *uj = energy->uj;
    return ok;
}

// Opens all packages. Their parts, such as the memory's, have directories with two colons: intel-rapl:0:1.
static bool open_packages(struct energy *energy, const char *root, char why[ENERGY_WHY])
{
    char path[PATH_MAX], word[FILE_WORD];
    for (int i = 0; i < PACKAGES_MAX; i++) {
        struct package *package = &energy->package[energy->packages];
        snprintf(path, sizeof(path), "%s/sys/class/powercap/intel-rapl:%d/name", root, i);
        file_read_word(path, word);
        if (strncmp(word, "package", strlen("package")) != 0)
            continue; // such as "psys", which contains the packages
        snprintf(path, sizeof(path), "%s/sys/class/powercap/intel-rapl:%d/max_energy_range_uj", root, i);
        if (!file_read_number(path, &package->range))
            package->range = 0;
        snprintf(package->path, sizeof(package->path), "%s/sys/class/powercap/intel-rapl:%d/energy_uj", root, i);
        if (!file_read_number(package->path, &package->last)) {
            snprintf(why, ENERGY_WHY, "%.90s: %s%s", package->path, strerror(errno),
                     errno == EACCES ? "; run 'sudo chmod a+r' on this file" : "");
            return false;
        }
        energy->packages++;
    }
    snprintf(why, ENERGY_WHY, "this processor or virtual machine has no RAPL counters, and no INA3221 sensor");
    snprintf(energy->name, sizeof(energy->name), "RAPL, %d package%s", energy->packages,
             energy->packages > 1 ? "s" : "");
    energy->read = read_packages; // a board may have a sensor instead
    return energy->packages > 0;
}

// ---- NVIDIA ----

static bool read_nvml(struct energy *energy, uint64_t *uj)
{
    unsigned long long mj;
    if (energy->nvml.energy(energy->nvml.device, &mj) != 0)
        return false;
    *uj = 1000 * (uint64_t)(mj - energy->first_mj);
    return true;
}

static bool power_nvml(struct energy *energy, double *watts)
{
    unsigned mw;
    if (energy->nvml.power(energy->nvml.device, &mw) != 0)
        return false;
    *watts = mw / 1e3;
    return true;
}

static bool open_nvml(struct energy *energy, const struct energy_device *device, char why[ENERGY_WHY])
{
    struct nvml *nvml = &energy->nvml;
    if (!nvml_open(nvml, device, why))
        return false;
    const bool counts = nvml->energy && nvml->energy(nvml->device, &energy->first_mj) == 0;
    energy->read = read_nvml;
    snprintf(why, ENERGY_WHY, "NVML reports neither energy nor power of this GPU");
    snprintf(energy->name, sizeof(energy->name), "NVML, %s", counts ? "energy" : "power");
    return counts || start_power(energy, power_nvml);
}

// ---- boards ----

static bool power_board(struct energy *energy, double *watts)
{
    uint64_t mv, ma;
    if (!file_read_number(energy->volts, &mv) || !file_read_number(energy->amperes, &ma))
        return false;
    *watts = (double)mv * (double)ma / 1e6;
    return true;
}

// Finds the sensor of the board's input, which Jetson names VDD_IN or POM_5V_IN.
static bool open_board(struct energy *energy, const char *root)
{
    char path[PATH_MAX], word[FILE_WORD];
    for (int h = 0; h < HWMONS_MAX; h++) {
        snprintf(path, sizeof(path), "%s/sys/class/hwmon/hwmon%d/name", root, h);
        file_read_word(path, word);
        for (int c = 1; strcmp(word, "ina3221") == 0 && c <= CHANNELS; c++) {
            char label[FILE_WORD];
            snprintf(path, sizeof(path), "%s/sys/class/hwmon/hwmon%d/in%d_label", root, h, c);
            file_read_word(path, label);
            const size_t length = strlen(label);
            if (length < 3 || strcmp(label + length - 3, "_IN") != 0)
                continue;
            snprintf(energy->volts, PATH_MAX, "%s/sys/class/hwmon/hwmon%d/in%d_input", root, h, c);
            snprintf(energy->amperes, PATH_MAX, "%s/sys/class/hwmon/hwmon%d/curr%d_input", root, h, c);
            snprintf(energy->name, sizeof(energy->name), "INA3221, %.40s", label);
            return start_power(energy, power_board);
        }
    }
    return false;
}

// ---- all ----

struct energy *energy_open(const struct energy_device *device, char why[ENERGY_WHY])
{
    struct energy *energy = xalloc(sizeof(*energy));
    const char *root = device->root ? device->root : "";
    snprintf(why, ENERGY_WHY, "there is no INA3221 sensor, and monocle knows no other counter of such devices");
    if ((device->cpu && open_packages(energy, root, why)) || (device->nvidia && open_nvml(energy, device, why)) ||
        open_board(energy, root))
        return energy;
    energy_close(energy);
    return NULL;
}

void energy_close(struct energy *energy)
{
    if (!energy)
        return;
    nvml_close(&energy->nvml);
    free(energy);
}

const char *energy_name(const struct energy *energy)
{
    return energy->name;
}

bool energy_read(struct energy *energy, uint64_t *uj)
{
    return energy->read(energy, uj);
}

// ---- a measurement ----

static const double change_ms = 500; // longest time until the counter changes
static const double batch_ms = 5;    // time between two reads of the counter
enum { BATCH_MAX = 64 };

struct batches {
    struct energy *energy;
    bool (*run)(void *context, int runs);
    void *context;
    int runs; // of one batch
};

// Runs batches for `for_ms`, and then until the counter changes. Sets the number of runs and the new value.
static bool run_to_change(const struct batches *batches, double for_ms, uint64_t *uj, double *runs)
{
    const int64_t start_ns = clock_now_ns();
    uint64_t before = 0;
    bool ok = true, timed = false;
    for (*runs = 0; ok && !(timed && *uj != before); *runs += batches->runs) {
        before = *uj;
        ok = batches->run(batches->context, batches->runs) && energy_read(batches->energy, uj) &&
             clock_ms_since(start_ns) < for_ms + change_ms;
        timed = clock_ms_since(start_ns) >= for_ms;
    }
    return ok;
}

bool energy_measure(struct energy *energy, double run_ms, double least_ms, bool (*run)(void *context, int runs),
                    void *context, struct energy_use *use)
{
    double wanted = batch_ms / run_ms;
    if (wanted > BATCH_MAX)
        wanted = BATCH_MAX;
    const struct batches batches = {energy, run, context, wanted > 1 ? (int)wanted : 1};
    uint64_t start, end;
    double runs;
    if (!energy_read(energy, &start) || !run_to_change(&batches, 0, &start, &runs))
        return false;
    const int64_t start_ns = clock_now_ns();
    end = start;
    if (!run_to_change(&batches, least_ms, &end, &runs))
        return false;
    *use = (struct energy_use){.mj = (double)(end - start) / 1e3 / runs, .ms = clock_ms_since(start_ns) / runs};
    return true;
}

// ---- sensors ----

enum { KHZ = 1000, HZ = 1000 * 1000, MILLIDEGREES = 1000, MOST = 1 << 17 };

// Raises *value to the highest number in the files that match, in units of `unit`. Ignores impossible values.
__attribute__((format(printf, 3, 4))) static void raise_to(int *value, uint64_t unit, const char *pattern, ...)
{
    glob_t found;
    char files[PATH_MAX];
    va_list arguments;
    va_start(arguments, pattern);
    vsnprintf(files, sizeof(files), pattern, arguments);
    va_end(arguments);
    if (glob(files, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        uint64_t number;
        if (file_read_number(found.gl_pathv[i], &number) && number / unit < MOST && (int)(number / unit) > *value)
            *value = (int)(number / unit);
    }
    globfree(&found);
}

// Reads the temperature beside each file `names` below `root` whose text contains one of the words.
static void read_temperature(int *value, const char *root, const char *names, const char *const *words,
                             const char *file)
{
    glob_t found;
    char pattern[PATH_MAX];
    snprintf(pattern, sizeof(pattern), "%s%s", root, names);
    if (glob(pattern, 0, NULL, &found) != 0)
        return;
    for (size_t i = 0; i < found.gl_pathc; i++) {
        char *path = found.gl_pathv[i], name[FILE_WORD];
        file_read_word(path, name);
        for (const char *const *word = words; *word; word++)
            if (strcasestr(name, *word))
                raise_to(value, MILLIDEGREES, "%.*s%s", (int)(file_base(path) - path), path, file);
    }
    globfree(&found);
}

static void read_thermal(int *value, const char *root, const char *const *words)
{
    read_temperature(value, root, "/sys/class/thermal/thermal_zone*/type", words, "temp");
    read_temperature(value, root, "/sys/class/hwmon/hwmon*/name", words, "temp1_input");
}

static void read_processor(struct sensors *sensors, const char *root)
{
    // The first four are the sensors of Intel's and AMD's processors.
    static const char *const words[] = {"x86_pkg_temp", "coretemp", "k10temp", "zenpower", "cpu", NULL};
    raise_to(&sensors->clock_mhz, KHZ, "%s/sys/devices/system/cpu/cpufreq/policy*/scaling_cur_freq", root);
    read_thermal(&sensors->temperature_c, root, words);
}

// Reads the files of a GPU's driver; without a PCI address, those of a GPU on a processor's chip.
static void read_gpu(struct sensors *sensors, const char *root, const char *pci)
{
    static const char *const words[] = {"gpu", NULL};
    if (pci[0]) {
        raise_to(&sensors->clock_mhz, HZ, "%s/sys/bus/pci/devices/%s/hwmon/hwmon*/freq1_input", root, pci);
        raise_to(&sensors->temperature_c, MILLIDEGREES, "%s/sys/bus/pci/devices/%s/hwmon/hwmon*/temp1_input", root,
                 pci);
    } else {
        raise_to(&sensors->clock_mhz, HZ, "%s/sys/class/devfreq/*gpu*/cur_freq", root);
        read_thermal(&sensors->temperature_c, root, words);
    }
}

static void read_nvidia(struct sensors *sensors, const struct energy_device *device)
{
    struct nvml nvml;
    char why[ENERGY_WHY];
    unsigned value;
    if (nvml_open(&nvml, device, why)) {
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

// ---- OpenCL devices ----

// cl_nv_device_attribute_query, which old headers lack.
enum { PCI_BUS_NV = 0x4008, PCI_SLOT_NV = 0x4009, PCI_DOMAIN_NV = 0x400a };

static bool read_number(const struct device_info *info, cl_device_info what, cl_uint *number)
{
    return clGetDeviceInfo(info->id, what, sizeof(*number), number, NULL) == CL_SUCCESS;
}

// Describes the device. Its address stays "" if the driver does not report it.
static struct energy_device identify(const struct device_info *info)
{
    struct energy_device device = {.cpu = info->type & CL_DEVICE_TYPE_CPU, .nvidia = info->nv_arch > 0};
    cl_device_pci_bus_info_khr address = {0};
    cl_uint slot = 0;
    bool found = clGetDeviceInfo(info->id, CL_DEVICE_PCI_BUS_INFO_KHR, sizeof(address), &address, NULL) == CL_SUCCESS;
    if (!found && info->nv_arch > 0) {
        found = read_number(info, PCI_BUS_NV, &address.pci_bus) && read_number(info, PCI_SLOT_NV, &slot);
        if (!read_number(info, PCI_DOMAIN_NV, &address.pci_domain))
            address.pci_domain = 0;
        address.pci_device = slot >> 3;
        address.pci_function = slot & 7;
    }
    if (found)
        snprintf(device.pci, sizeof(device.pci), "%04x:%02x:%02x.%x", address.pci_domain & 0xffff,
                 address.pci_bus & 0xff, address.pci_device & 0xff, address.pci_function & 7);
    return device;
}

struct energy *device_energy_open(const struct device_info *info, char why[ENERGY_WHY])
{
    const struct energy_device device = identify(info);
    return energy_open(&device, why);
}

void device_sensors_read(const struct device_info *info, struct sensors *sensors)
{
    const struct energy_device device = identify(info);
    sensors_read(&device, sensors);
}
