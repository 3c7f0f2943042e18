// energy.c: counters of the energy that a device uses: RAPL, NVML and the power sensors of boards
#include "base/energy.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/nvml.h"
#include "base/thread.h"

#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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
    const double wanted = batch_ms / run_ms;
    const struct batches batches = {energy, run, context,
                                    wanted < 1           ? 1
                                    : wanted > BATCH_MAX ? BATCH_MAX
                                                         : (int)wanted};
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
