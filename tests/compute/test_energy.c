// test_energy.c: the energy counters of processors, NVIDIA GPUs and boards, read from a false /sys and a false NVML
#include "compute/energy.h"

#include "scratch.h"
#include "unit.h"

#include <sys/stat.h>

static struct scratch scratch;
static char root[600], why[ENERGY_WHY];

static int64_t now_ns = 1000000000;

int64_t __wrap_clock_now_ns(void);
int64_t __wrap_clock_now_ns(void)
{
    return now_ns;
}

static void pass_ms(int ms)
{
    now_ns += (int64_t)ms * 1000000;
}

static double joules(struct energy *energy)
{
    uint64_t uj = 0;
    CHECK(energy_read(energy, &uj));
    return (double)uj / 1e6;
}

static void check_joules(struct energy *energy, double want)
{
    const double got = joules(energy); // each call may change the counter
    CHECK_NUMBER(got, want);
}

// Writes a file of the false /sys, whose readers see the old text or the new one.
static void put(const char *name, const char *text)
{
    char path[1200], fresh[700];
    snprintf(path, sizeof(path), "%s/sys/class/%s", root, name);
    for (char *slash = strchr(path + 1, '/'); slash; slash = strchr(slash + 1, '/')) {
        *slash = '\0';
        mkdir(path, 0700);
        *slash = '/';
    }
    snprintf(fresh, sizeof(fresh), "%s/fresh", root);
    FILE *file = fopen(fresh, "w");
    CHECK(file && fprintf(file, "%s\n", text) > 0 && fclose(file) == 0 && rename(fresh, path) == 0);
}

static void remove_root(void)
{
    char command[700];
    snprintf(command, sizeof(command), "rm -rf '%s/sys'", root);
    CHECK(system(command) == 0);
}

static void test_packages(void)
{
    const struct energy_device cpu = {.cpu = true, .root = root};
    CHECK(!energy_open(&cpu, why));
    CHECK_HAS(why, "no RAPL counters");
    put("powercap/intel-rapl:0/name", "package-0");
    put("powercap/intel-rapl:0/energy_uj", "5000000");
    put("powercap/intel-rapl:0/max_energy_range_uj", "9000000");
    put("powercap/intel-rapl:1/name", "psys"); // contains the packages
    put("powercap/intel-rapl:1/energy_uj", "1");
    put("powercap/intel-rapl:2/name", "package-1");
    put("powercap/intel-rapl:2/energy_uj", "100");
    put("powercap/intel-rapl:2/max_energy_range_uj", "9000000");
    struct energy *energy = energy_open(&cpu, why);
    CHECK(energy);
    if (!energy)
        return;
    CHECK_TEXT(energy_name(energy), "RAPL, 2 packages");
    check_joules(energy, 0);
    put("powercap/intel-rapl:0/energy_uj", "6000000");
    put("powercap/intel-rapl:2/energy_uj", "500100");
    put("powercap/intel-rapl:1/energy_uj", "8000000");
    check_joules(energy, 1.5);
    put("powercap/intel-rapl:0/energy_uj", "1000000"); // it has wrapped around
    check_joules(energy, 5.5);
    put("powercap/intel-rapl:0/energy_uj", "none");
    uint64_t uj;
    CHECK(!energy_read(energy, &uj));
    energy_close(energy);
    put("powercap/intel-rapl:0/energy_uj", "5000000");
    put("powercap/intel-rapl:0/max_energy_range_uj", "none");
    energy = energy_open(&cpu, why);
    put("powercap/intel-rapl:0/energy_uj", "1000000"); // it has wrapped around at an unknown value
    CHECK(energy && !energy_read(energy, &uj));
    put("powercap/intel-rapl:0/energy_uj", "3000000");
    check_joules(energy, 2);
    energy_close(energy);
    if (geteuid() != 0) { // root may read all files
        char path[700];
        snprintf(path, sizeof(path), "%s/sys/class/powercap/intel-rapl:2/energy_uj", root);
        put("powercap/intel-rapl:0/energy_uj", "1");
        CHECK(chmod(path, 0) == 0 && !energy_open(&cpu, why));
        CHECK_HAS(why, "Permission denied; run 'sudo chmod a+r'");
    }
    remove_root();
}

static void test_board(void)
{
    put("hwmon/hwmon0/name", "acpitz");
    put("hwmon/hwmon2/name", "ina3221");
    put("hwmon/hwmon2/in1_label", "VDD_CPU_GPU_CV");
    put("hwmon/hwmon2/in2_label", "VDD_IN");
    put("hwmon/hwmon2/in2_input", "5000");
    put("hwmon/hwmon2/curr2_input", "4000");
    struct energy *energy = energy_open(&(struct energy_device){.cpu = true, .root = root}, why); // it has no RAPL
    CHECK(energy);
    if (!energy)
        return;
    CHECK_TEXT(energy_name(energy), "INA3221, VDD_IN");
    check_joules(energy, 0);
    pass_ms(500);
    check_joules(energy, 10); // 20 W
    put("hwmon/hwmon2/curr2_input", "2000");
    pass_ms(500);
    check_joules(energy, 17.5); // from 20 W to 10 W
    pass_ms(500);
    check_joules(energy, 22.5);
    put("hwmon/hwmon2/curr2_input", "none");
    uint64_t uj;
    CHECK(!energy_read(energy, &uj));
    energy_close(energy);
    remove_root();
    CHECK(!energy_open(&(struct energy_device){.root = root}, why));
    CHECK_HAS(why, "no INA3221 sensor");
}

static void test_nvml(const char *library)
{
    struct energy_device device = {.nvidia = true, .root = root, .library = library, .pci = "0000:41:00.0"};
    struct energy *energy = energy_open(&device, why);
    CHECK(energy);
    if (!energy)
        return;
    CHECK_TEXT(energy_name(energy), "NVML, energy");
    check_joules(energy, 0.25);
    check_joules(energy, 0.5);
    energy_close(energy);
    device.pci[0] = '\0'; // the only one
    CHECK((energy = energy_open(&device, why)));
    energy_close(energy);
    setenv("TEST_NVML", "power", 1);
    CHECK((energy = energy_open(&device, why)));
    CHECK_TEXT(energy ? energy_name(energy) : why, "NVML, power");
    pass_ms(500);
    if (energy)
        check_joules(energy, 50); // 100 W
    energy_close(energy);
    strcpy(device.pci, "0000:42:00.0");
    CHECK(!energy_open(&device, why));
    CHECK_HAS(why, "NVML does not have this GPU");
    setenv("TEST_NVML", "none", 1);
    device.pci[0] = '\0';
    CHECK(!energy_open(&device, why));
    device.library = "libnone.so.1";
    CHECK(!energy_open(&device, why));
    CHECK_HAS(why, "libnone.so.1 cannot be used");
}

// ---- a measurement ----

static struct load {
    int runs, steps; // steps: runs between two changes of the counter; 0: it never changes
    bool fails;
} load;

// A run takes 1 ms and 10 mJ.
static bool run_load(void *context, int runs)
{
    struct load *l = context;
    char text[32];
    CHECK(runs >= 1 && runs <= 64);
    l->runs += runs;
    pass_ms(runs);
    if (l->steps > 0) {
        snprintf(text, sizeof(text), "%d", l->runs / l->steps * l->steps * 10000);
        put("powercap/intel-rapl:0/energy_uj", text);
    }
    return !l->fails;
}

static void test_measure(void)
{
    struct energy_use use;
    put("powercap/intel-rapl:0/name", "package-0");
    put("powercap/intel-rapl:0/energy_uj", "0");
    struct energy *energy = energy_open(&(struct energy_device){.cpu = true, .root = root}, why);
    CHECK(energy);
    if (!energy)
        return;
    load.steps = 50;
    CHECK(energy_measure(energy, 1, 120, run_load, &load, &use));
    CHECK_NUMBER(use.mj, 10);
    CHECK_NUMBER(use.ms, 1);
    CHECK_NUMBER(load.runs, 200); // 50 until the counter changes, 120, and 30 until it changes again
    CHECK(energy_measure(energy, 0.001, 10, run_load, &load, &use));
    load = (struct load){0};
    CHECK(!energy_measure(energy, 100, 120, run_load, &load, &use));
    CHECK_NUMBER(load.runs, 500);
    load.fails = true;
    CHECK(!energy_measure(energy, 1, 1, run_load, &load, &use));
    energy_close(energy);
    remove_root();
}

int main(int argc, char **argv)
{
    if (!scratch_open(&scratch))
        return 1;
    snprintf(root, sizeof(root), "%s", scratch.dir);
    test_packages();
    test_board();
    test_nvml(argv[1]);
    test_measure();
    energy_close(NULL);
    scratch_close(&scratch);
    return check_end(&unit);
}
