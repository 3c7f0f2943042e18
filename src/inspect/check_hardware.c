// check_hardware.c: finds GPUs in /sys, and checks that each has an OpenCL device and may be opened
#include "base/alloc.h"
#include "inspect/doctor_checks.h"

#include "compute/drivers.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>

enum { NVIDIA = 0x10de, AMD = 0x1002, INTEL = 0x8086 };
enum { DISPLAY_CLASS = 0x03 }; // the first byte of a PCI class

// The vendors of GPUs on the PCI bus whose drivers are known.
static const struct maker {
    unsigned vendor;
    const char *name, *rusticl;
    const char *library; // a part of the name of its own OpenCL driver
} makers[] = {
    {NVIDIA, "NVIDIA", NULL, "nvidia-opencl"},
    {AMD, "AMD", "radeonsi", "amdocl"},
    {INTEL, "Intel", "iris", "igdrcl"},
};

// GPUs of boards, by the text in /proc/device-tree/model.
static const struct board {
    const char *model, *name, *rusticl;
} boards[] = {
    {"Raspberry Pi", "Raspberry Pi", "v3d"},
    {"Jetson", "NVIDIA Jetson", NULL},
};

static unsigned read_number(struct doctor *doctor, const char *device, const char *file)
{
    char below[PATH_MAX], line[64];
    snprintf(below, sizeof(below), "/sys/bus/pci/devices/%s/%s", device, file);
    return doctor_read(doctor, below, line, sizeof(line)) ? (unsigned)strtoul(line, NULL, 16) : 0;
}

static void add_pci(struct doctor *doctor, const char *device)
{
    const unsigned vendor = read_number(doctor, device, "vendor");
    if (read_number(doctor, device, "class") >> 16 != DISPLAY_CLASS)
        return;
    for (size_t i = 0; i < sizeof(makers) / sizeof(*makers) && doctor->gpus < GPUS_MAX; i++) {
        if (makers[i].vendor != vendor)
            continue;
        struct gpu *gpu = &doctor->gpu[doctor->gpus++];
        *gpu = (struct gpu){.vendor = vendor, .rusticl = makers[i].rusticl};
        snprintf(gpu->name, sizeof(gpu->name), "%s GPU %.32s", makers[i].name, device);
    }
}

bool hardware_has(const struct doctor *doctor, const char *model)
{
    char line[128];
    return doctor_read(doctor, "/proc/device-tree/model", line, sizeof(line)) && strstr(line, model);
}

void hardware_find(struct doctor *doctor)
{
    doctor_entries(doctor, "/sys/bus/pci/devices", "", add_pci);
    for (size_t i = 0; i < sizeof(boards) / sizeof(*boards) && doctor->gpus < GPUS_MAX; i++) {
        if (!hardware_has(doctor, boards[i].model))
            continue;
        struct gpu *gpu = &doctor->gpu[doctor->gpus++];
        *gpu = (struct gpu){.rusticl = boards[i].rusticl};
        snprintf(gpu->name, sizeof(gpu->name), "GPU of the %s", boards[i].name);
    }
}

const char *hardware_lacks(const struct doctor *doctor, const char *library)
{
    for (size_t i = 0; i < sizeof(makers) / sizeof(*makers); i++) {
        bool found = false;
        for (int g = 0; g < doctor->gpus; g++)
            found = found || doctor->gpu[g].vendor == makers[i].vendor;
        if (strcasestr(library, makers[i].library) && !found)
            return makers[i].name;
    }
    return NULL;
}

// Returns true if an OpenCL device of type GPU has this vendor; 0: any vendor.
static bool has_device(const struct doctor *doctor, unsigned vendor)
{
    size_t i;
    json_t *device;
    json_array_foreach(doctor->devices, i, device)
    {
        const char *type = "", *id = "";
        json_unpack(device, "{s?s,s?s}", "type", &type, "vendor_id", &id);
        if (strcmp(type, "gpu") == 0 && (vendor == 0 || strtoul(id, NULL, 16) == vendor))
            return true;
    }
    return false;
}

static bool has_driver(const struct doctor *doctor, const char *name)
{
    struct driver *drivers = xcalloc(DRIVERS_MAX, sizeof(*drivers));
    bool found = false;
    const int count = drivers_list(doctor->vendors, drivers);
    for (int i = 0; i < count; i++)
        found = found || strcasestr(drivers[i].library, name);
    free(drivers);
    return found;
}

static void advise_nvidia(struct doctor *doctor, const struct gpu *gpu)
{
    if (!doctor_has(doctor, "/sys/module/nvidia"))
        doctor_report(doctor, FINDING_PROBLEM,
                      "sudo apt install nvidia-driver nvidia-opencl-icd   # Debian: section non-free; Ubuntu: sudo "
                      "ubuntu-drivers install; then restart",
                      "%s has no OpenCL device: NVIDIA's kernel module is not loaded", gpu->name);
    else if (!has_driver(doctor, "nvidia"))
        doctor_report(doctor, FINDING_PROBLEM,
                      "sudo apt install nvidia-opencl-icd   # Debian: section non-free; Ubuntu: sudo ubuntu-drivers "
                      "install; container: docker run --gpus all -e NVIDIA_DRIVER_CAPABILITIES=all",
                      "%s has no OpenCL device: NVIDIA's OpenCL driver is not installed", gpu->name);
    else
        doctor_report(
            doctor, FINDING_PROBLEM, "nvidia-smi   # prints the cause",
            "%s has no OpenCL device: the driver does not match the kernel module, or /dev/nvidia* is missing",
            gpu->name);
}

// Returns true if the main section of the release has no intel-opencl-icd: Debian from version 13 on.
static bool lacks_intel_driver(struct doctor *doctor)
{
    char path[PATH_MAX], line[128];
    bool debian = false;
    int version = INT_MAX; // unstable has none
    doctor_path(doctor, path, "/etc/os-release");
    FILE *file = fopen(path, "r");
    while (file && fgets(line, sizeof(line), file)) {
        debian = debian || strcmp(line, "ID=debian\n") == 0;
        sscanf(line, "VERSION_ID=\"%d", &version);
    }
    if (file)
        fclose(file);
    return debian && version >= 13;
}

static void advise_rusticl(struct doctor *doctor, const struct gpu *gpu)
{
    char fix[256];
    const bool enabled = getenv("RUSTICL_ENABLE") && strstr(getenv("RUSTICL_ENABLE"), gpu->rusticl);
    if (has_driver(doctor, "rusticl") && !enabled) {
        snprintf(fix, sizeof(fix), "export RUSTICL_ENABLE=%s", gpu->rusticl);
        doctor_report(doctor, FINDING_PROBLEM, fix, "%s has no OpenCL device: Mesa's driver rusticl is not enabled",
                      gpu->name);
        return;
    }
    if (gpu->vendor == INTEL && !lacks_intel_driver(doctor))
        snprintf(fix, sizeof(fix), "sudo apt install intel-opencl-icd");
    else
        snprintf(fix, sizeof(fix),
                 "sudo apt install mesa-opencl-icd && export RUSTICL_ENABLE=%s   # Debian 13, Ubuntu 24.04 or later",
                 gpu->rusticl);
    doctor_report(doctor, FINDING_PROBLEM, enabled ? NULL : fix, "%s has no OpenCL device: %s", gpu->name,
                  enabled ? "rusticl is enabled, but does not find it" : "its driver is not installed");
}

void check_gpus(struct doctor *doctor)
{
    if (doctor->gpus == 0)
        doctor_report(doctor, FINDING_OK, NULL, "there is no GPU of NVIDIA, AMD or Intel");
    for (int i = 0; i < doctor->gpus; i++) {
        const struct gpu *gpu = &doctor->gpu[i];
        if (has_device(doctor, gpu->vendor))
            doctor_report(doctor, FINDING_OK, NULL, "%s has an OpenCL device", gpu->name);
        else if (gpu->vendor == NVIDIA)
            advise_nvidia(doctor, gpu);
        else if (gpu->rusticl)
            advise_rusticl(doctor, gpu);
        else
            doctor_report(doctor, FINDING_WARNING, NULL,
                          "%s has no OpenCL device: its vendor provides no driver; PoCL and the cpu path use its CPU",
                          gpu->name);
    }
}

static void check_node(struct doctor *doctor, const char *name)
{
    char below[PATH_MAX];
    snprintf(below, sizeof(below), "/dev/dri/%s", name);
    if (doctor_may_use(doctor, below, "render"))
        doctor_report(doctor, FINDING_OK, NULL, "%s can be opened", below);
}

void check_render_nodes(struct doctor *doctor)
{
    if (doctor_entries(doctor, "/dev/dri", "renderD", check_node) > 0)
        return;
    if (doctor_entries(doctor, "/sys/class/drm", "renderD", NULL) > 0)
        doctor_report(doctor, FINDING_PROBLEM, "docker run --device=/dev/dri",
                      "there is a GPU, but no /dev/dri: this container has no access to it");
}
