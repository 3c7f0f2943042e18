// energy.c: the energy, the clock rate and the temperature of a device: RAPL, NVML, and sensors of boards
#include "compute/energy.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/thread.h"
#include "compute/cl.h"

#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <limits.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- NVML ----

// The functions for a GPU; they take `device`. A result of 0 is success.
struct nvml {
    void *library, *device;
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

// Finds the GPU with this PCI address; NULL: the only one. `library` NULL: libnvidia-ml.so.1. False on failure: `why`
// has the reason, and the caller closes it as well.
static bool nvml_open(struct nvml *nvml, const char *library, const char *pci, char *why, size_t size)
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

// Accepts a zeroed one.
static void nvml_close(struct nvml *nvml)
{
    if (nvml->init)
        nvml->shutdown();
    if (nvml->library)
        dlclose(nvml->library);
    *nvml = (struct nvml){0};
}

// ---- energy ----

enum { PACKAGES_MAX = 16, SAMPLE_MS = 20, HWMONS_MAX = 64, CHANNELS = 8 };

// A file with a counter in microjoules.
struct package {
    char path[PATH_MAX];
    uint64_t last, range; // range: the counter wraps around after this value; 0: unknown
};

struct energy {
    char name[ENERGY_NAME];
    bool (*read)(struct energy *energy, uint64_t *uj);   // NULL: `power` is added up
    bool (*power)(struct energy *energy, double *watts); // called by the sampling thread
    struct package package[PACKAGES_MAX];
    int packages;
    uint64_t uj; // of the packages
    struct nvml nvml;
    unsigned long long first_mj;             // of NVML's counter
    char volts[PATH_MAX], amperes[PATH_MAX]; // files of a board's sensor, in mV and mA

    pthread_mutex_t lock; // guards the members below
    pthread_cond_t ended;
    pthread_t sampler;
    bool has_sampler, ending, failed;
    double joules, watts; // watts: the latest sample
    int64_t sampled_ns;
};

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
    energy->read = energy->packages > 0 ? read_packages : NULL; // a board may have a sensor instead
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
    double watts;
    if (!nvml_open(nvml, device->library, device->pci, why, ENERGY_WHY))
        return false;
    if (nvml->energy && nvml->energy(nvml->device, &energy->first_mj) == 0)
        energy->read = read_nvml;
    else if (power_nvml(energy, &watts))
        energy->power = power_nvml;
    snprintf(why, ENERGY_WHY, "NVML reports neither energy nor power of this GPU");
    snprintf(energy->name, sizeof(energy->name), "NVML, %s", energy->read ? "energy" : "power");
    return energy->read || energy->power;
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
    double watts;
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
            energy->power = power_board;
            return power_board(energy, &watts);
        }
    }
    return false;
}

// ---- power, added up ----

// Adds the energy since the last sample, at the mean of both samples' power. Call with the lock.
static void add_sample(struct energy *energy)
{
    double watts;
    if (!energy->power(energy, &watts)) {
        energy->failed = true;
        return;
    }
    const int64_t now_ns = clock_now_ns();
    energy->joules += (double)(now_ns - energy->sampled_ns) / 1e9 * (energy->watts + watts) / 2;
    energy->sampled_ns = now_ns;
    energy->watts = watts;
}

static void *sample(void *context)
{
    struct energy *energy = context;
    pthread_mutex_lock(&energy->lock);
    while (!energy->ending) {
        add_sample(energy);
        thread_wait(&energy->ended, &energy->lock, clock_now_ns() + (int64_t)SAMPLE_MS * 1000 * 1000);
    }
    pthread_mutex_unlock(&energy->lock);
    return NULL;
}

static bool start_sampling(struct energy *energy, char why[ENERGY_WHY])
{
    if (!energy->power)
        return true;
    energy->sampled_ns = clock_now_ns();
    energy->has_sampler =
        energy->power(energy, &energy->watts) && thread_start(&energy->sampler, sample, energy, "energy");
    snprintf(why, ENERGY_WHY, "%s cannot be sampled", energy->name);
    return energy->has_sampler;
}

static bool read_samples(struct energy *energy, uint64_t *uj)
{
    pthread_mutex_lock(&energy->lock);
    add_sample(energy);
    const bool ok = !energy->failed;
    *uj = (uint64_t)(energy->joules * 1e6);
    pthread_mutex_unlock(&energy->lock);
    return ok;
}

// ---- all ----

struct energy *energy_open(const struct energy_device *device, char why[ENERGY_WHY])
{
    struct energy *energy = xalloc(sizeof(*energy));
    const char *root = device->root ? device->root : "";
    pthread_mutex_init(&energy->lock, NULL);
    thread_condition_init(&energy->ended);
    snprintf(why, ENERGY_WHY, "there is no INA3221 sensor, and monocle knows no other counter of such devices");
    const bool found = (device->cpu && open_packages(energy, root, why)) ||
                       (device->nvidia && open_nvml(energy, device, why)) || open_board(energy, root);
    if (found && start_sampling(energy, why))
        return energy;
    energy_close(energy);
    return NULL;
}

void energy_close(struct energy *energy)
{
    if (!energy)
        return;
    if (energy->has_sampler) {
        pthread_mutex_lock(&energy->lock);
        energy->ending = true;
        pthread_cond_signal(&energy->ended);
        pthread_mutex_unlock(&energy->lock);
        pthread_join(energy->sampler, NULL);
    }
    nvml_close(&energy->nvml);
    pthread_cond_destroy(&energy->ended);
    pthread_mutex_destroy(&energy->lock);
    free(energy);
}

const char *energy_name(const struct energy *energy)
{
    return energy->name;
}

bool energy_read(struct energy *energy, uint64_t *uj)
{
    return energy->read ? energy->read(energy, uj) : read_samples(energy, uj);
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

// ---- OpenCL devices ----

enum { PCI_TEXT = 24 };

// cl_nv_device_attribute_query, which old headers lack.
enum { PCI_BUS_NV = 0x4008, PCI_SLOT_NV = 0x4009, PCI_DOMAIN_NV = 0x400a };

static bool read_number(const struct device_info *info, cl_device_info what, cl_uint *number)
{
    return clGetDeviceInfo(info->id, what, sizeof(*number), number, NULL) == CL_SUCCESS;
}

// Writes the device's address, "0000:01:00.0". False: the driver does not report it.
static bool find_pci(const struct device_info *info, char pci[PCI_TEXT])
{
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
        snprintf(pci, PCI_TEXT, "%04x:%02x:%02x.%x", address.pci_domain & 0xffff, address.pci_bus & 0xff,
                 address.pci_device & 0xff, address.pci_function & 7);
    return found;
}

// Describes the device to base. `pci` is room for its address, which the result borrows.
static struct energy_device identify(const struct device_info *info, char pci[PCI_TEXT])
{
    return (struct energy_device){
        .cpu = info->type & CL_DEVICE_TYPE_CPU,
        .nvidia = info->nv_arch > 0,
        .pci = find_pci(info, pci) ? pci : NULL,
    };
}

struct energy *device_energy_open(const struct device_info *info, char why[ENERGY_WHY])
{
    char pci[PCI_TEXT];
    const struct energy_device device = identify(info, pci);
    return energy_open(&device, why);
}

void device_sensors_read(const struct device_info *info, struct sensors *sensors)
{
    char pci[PCI_TEXT];
    const struct energy_device device = identify(info, pci);
    sensors_read(&device, sensors);
}
