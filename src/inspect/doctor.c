// doctor.c: the checks of `monocle doctor`
#include "base/alloc.h"
#include "base/cache.h"
#include "base/file.h"
#include "base/installed_program.h"
#include "base/text.h"
#include "compute/drivers.h"
#include "inspect/inspect.h"
#include "matte/matte.h"
#include "source/camera_device.h"
#include "source/cameras.h"
#include "source/source.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <jansson.h>
#include <limits.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/utsname.h>
#include <unistd.h>

enum { GPUS_MAX = 16 };

struct gpu {
    char name[64];       // "NVIDIA GPU 0000:01:00.0", or the board's model
    unsigned vendor;     // of PCI; 0: on a board
    const char *rusticl; // value of RUSTICL_ENABLE for it; NULL: rusticl does not support it
};

struct doctor {
    const char *root;  // all system directories are below it; "": the real ones
    const char *check; // name of the check that runs
    void (*found)(void *context, const struct finding *finding);
    void *context;
    struct gpu gpu[GPUS_MAX];
    int gpus;
    char vendors[PATH_MAX]; // directory of the OpenCL drivers
    const char *isp;        // name of an image signal processor that has video nodes; NULL: none was found
    bool has_drivers;       // there is an OpenCL driver, perhaps a broken one
    struct json_t *devices; // OpenCL devices with their facts; NULL before check_devices
};

// ---- findings ----

// Reports a finding. `fix`: the command that repairs it; NULL: none.
static void doctor_report(struct doctor *doctor, enum finding_level level, const char *fix, const char *format, ...)
    __attribute__((format(printf, 4, 5)));
static void doctor_report(struct doctor *doctor, enum finding_level level, const char *fix, const char *format, ...)
{
    char text[1024];
    va_list arguments;
    va_start(arguments, format);
    vsnprintf(text, sizeof(text), format, arguments);
    va_end(arguments);
    doctor->found(doctor->context, &(struct finding){level, doctor->check, text, fix});
}

// ---- files ----

// Writes the path below the root.
static void doctor_path(const struct doctor *doctor, char path[PATH_MAX], const char *below)
{
    snprintf(path, PATH_MAX, "%s%s", doctor->root, below);
}

// The file exists.
static bool doctor_has(const struct doctor *doctor, const char *below)
{
    char path[PATH_MAX];
    doctor_path(doctor, path, below);
    return access(path, F_OK) == 0;
}

// Reads the first line of a file. False: there is no such file.
static bool doctor_read(const struct doctor *doctor, const char *below, char *line, size_t size)
{
    char path[PATH_MAX];
    doctor_path(doctor, path, below);
    FILE *file = fopen(path, "r"); // not file_read: files of /sys report a wrong size
    const bool ok = file && fgets(line, (int)size, file);
    if (file)
        fclose(file);
    line[ok ? strcspn(line, "\n") : 0] = '\0';
    return ok;
}

// Calls `each` for the entries of a directory that begin with `prefix`, sorted. Returns their number.
static int doctor_entries(struct doctor *doctor, const char *below, const char *prefix,
                          void (*each)(struct doctor *doctor, const char *name))
{
    char path[PATH_MAX];
    struct dirent **entries;
    int count = 0;
    doctor_path(doctor, path, below);
    const int found = scandir(path, &entries, NULL, versionsort);
    for (int i = 0; i < found; i++) {
        if (entries[i]->d_name[0] != '.' && strncmp(entries[i]->d_name, prefix, strlen(prefix)) == 0) {
            count++;
            if (each)
                each(doctor, entries[i]->d_name);
        }
        free(entries[i]);
    }
    if (found >= 0)
        free(entries);
    return count;
}

// Returns true if this user may read and write the device node; otherwise reports the group that may. `group`: its
// usual group, "video".
static bool doctor_may_use(struct doctor *doctor, const char *below, const char *group)
{
    char path[PATH_MAX], fix[128];
    struct stat status;
    doctor_path(doctor, path, below);
    if (access(path, R_OK | W_OK) == 0)
        return true;
    const bool found = stat(path, &status) == 0;
    const struct group *owner = found && status.st_gid != 0 ? getgrgid(status.st_gid) : NULL;
    snprintf(fix, sizeof(fix), "sudo usermod -aG %s $USER   # then log in again", owner ? owner->gr_name : group);
    doctor_report(doctor, FINDING_PROBLEM, fix, "no permission to open %s", below);
    return false;
}

// ---- hardware ----

enum { NVIDIA = 0x10de, AMD = 0x1002, INTEL = 0x8086 };
enum { DISPLAY_CLASS = 0x03 }; // the first byte of a PCI class

// The vendors of GPUs on the PCI bus whose drivers are known.
static const struct gpu_vendor {
    unsigned vendor;
    const char *name, *rusticl;
    const char *library; // a part of the name of its own OpenCL driver
} vendors[] = {
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
    for (size_t i = 0; i < sizeof(vendors) / sizeof(*vendors) && doctor->gpus < GPUS_MAX; i++) {
        if (vendors[i].vendor != vendor)
            continue;
        struct gpu *gpu = &doctor->gpu[doctor->gpus++];
        *gpu = (struct gpu){.vendor = vendor, .rusticl = vendors[i].rusticl};
        snprintf(gpu->name, sizeof(gpu->name), "%s GPU %.32s", vendors[i].name, device);
    }
}

// The board's model contains the text.
static bool hardware_has(const struct doctor *doctor, const char *model)
{
    char line[128];
    return doctor_read(doctor, "/proc/device-tree/model", line, sizeof(line)) && strstr(line, model);
}

// Sets doctor->gpu.
static void hardware_find(struct doctor *doctor)
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

// Returns the vendor of the GPUs that this driver is for, if the machine has none of them; otherwise NULL.
static const char *hardware_lacks(const struct doctor *doctor, const char *library)
{
    for (size_t i = 0; i < sizeof(vendors) / sizeof(*vendors); i++) {
        bool found = false;
        for (int g = 0; g < doctor->gpus; g++)
            found = found || doctor->gpu[g].vendor == vendors[i].vendor;
        if (strcasestr(library, vendors[i].library) && !found)
            return vendors[i].name;
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
    if (getenv("RUSTICL_ENABLE") && strstr(getenv("RUSTICL_ENABLE"), gpu->rusticl)) {
        doctor_report(doctor, FINDING_PROBLEM, NULL,
                      "%s has no OpenCL device: rusticl is enabled, but does not find it", gpu->name);
        return;
    }
    if (has_driver(doctor, "rusticl")) {
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
    doctor_report(doctor, FINDING_PROBLEM, fix, "%s has no OpenCL device: its driver is not installed", gpu->name);
}

// After check_devices.
static void check_gpus(struct doctor *doctor)
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

static void check_render_nodes(struct doctor *doctor)
{
    if (doctor_entries(doctor, "/dev/dri", "renderD", check_node) > 0)
        return;
    if (doctor_entries(doctor, "/sys/class/drm", "renderD", NULL) > 0)
        doctor_report(doctor, FINDING_PROBLEM, "docker run --device=/dev/dri",
                      "there is a GPU, but no /dev/dri: this container has no access to it");
}

// ---- OpenCL ----

// Returns the value of RUSTICL_ENABLE for this machine.
static const char *rusticl_name(const struct doctor *doctor)
{
    for (int i = 0; i < doctor->gpus; i++)
        if (doctor->gpu[i].rusticl)
            return doctor->gpu[i].rusticl;
    return "llvmpipe";
}

static void report_none(struct doctor *doctor, const struct driver *driver, json_t *found)
{
    char fix[128];
    const char *why = json_string_value(json_object_get(found, "why")), *enabled = getenv("RUSTICL_ENABLE");
    if (strcasestr(driver->library, "rusticl")) {
        snprintf(fix, sizeof(fix), "export RUSTICL_ENABLE=%s", rusticl_name(doctor));
        doctor_report(doctor, FINDING_WARNING, fix, "%s loads, but lists no device: RUSTICL_ENABLE %s%s",
                      driver->library, enabled ? "is " : "is not set", text_or(enabled, ""));
    } else if (hardware_lacks(doctor, driver->library))
        doctor_report(doctor, FINDING_OK, NULL, "%s loads, but lists no device: there is no GPU of %s", driver->library,
                      hardware_lacks(doctor, driver->library));
    else
        doctor_report(doctor, FINDING_WARNING, NULL, "%s loads, but lists no device: %s", driver->library,
                      why ? why : "?");
}

static void check_driver(struct doctor *doctor, const struct driver *driver)
{
    char why[INSPECT_WHY], fix[3 * PATH_MAX];
    struct drivers_choice alone;
    if (!drivers_use(&alone, driver, 1)) {
        drivers_restore(&alone);
        doctor_report(doctor, FINDING_WARNING, NULL, "%s cannot be tested: no temporary directory can be made",
                      driver->library);
        return;
    }
    json_t *found = inspect(INSPECT_DRIVER, driver->library, why);
    drivers_restore(&alone);
    const char *error = json_string_value(json_object_get(found, "error"));
    const size_t count = json_array_size(json_object_get(found, "devices"));
    if (why[0]) {
        driver_repair(driver, fix, sizeof(fix));
        doctor_report(doctor, FINDING_PROBLEM, fix, "%s, which %s names, is broken: %s", driver->library, driver->file,
                      why);
    } else if (!error || error[0]) {
        snprintf(fix, sizeof(fix),
                 "sudo apt install --reinstall $(dpkg -S %s | cut -d: -f1)   # or, if no package owns it: sudo rm %s",
                 driver->file, driver->file);
        doctor_report(doctor, FINDING_PROBLEM, fix, "the library that %s names does not load: %s", driver->file,
                      error ? error : "?");
    } else if (count == 0)
        report_none(doctor, driver, found);
    else
        doctor_report(doctor, FINDING_OK, NULL, "%s loads and lists %zu device%s", driver->library, count,
                      count == 1 ? "" : "s");
    json_decref(found);
}

static void check_drivers(struct doctor *doctor)
{
    struct driver *drivers = xcalloc(DRIVERS_MAX, sizeof(*drivers));
    const int count = drivers_list(doctor->vendors, drivers);
    doctor->has_drivers = count > 0;
    for (int i = 0; i < count; i++) {
        char fix[PATH_MAX + 16];
        snprintf(fix, sizeof(fix), "sudo rm %s", drivers[i].file);
        if (drivers[i].library[0])
            check_driver(doctor, &drivers[i]);
        else
            doctor_report(doctor, FINDING_PROBLEM, fix, "%s names no library, or cannot be read", drivers[i].file);
    }
    if (count == 0)
        doctor_report(doctor, FINDING_PROBLEM, "sudo apt install pocl-opencl-icd   # for the CPU; for a GPU, see below",
                      "no OpenCL driver is installed; only the cpu path works");
    free(drivers);
}

// Writes the sharing modes that work: "mapped, opencl".
static void list_modes(json_t *device, char *text, size_t size)
{
    static const char *const modes[] = {"gl-shared", "mapped", "opencl"};
    text[0] = '\0';
    for (size_t i = 0; i < sizeof(modes) / sizeof(*modes); i++) {
        if (json_is_true(json_object_get(json_object_get(device, modes[i]), "works")))
            text_append(text, size, "%s%s", text_if(text[0], ", "), modes[i]);
    }
}

static void check_device(struct doctor *doctor, json_t *device)
{
    char number[16], why[INSPECT_WHY], modes[64];
    const char *name = json_string_value(json_object_get(device, "name"));
    snprintf(number, sizeof(number), "%d", (int)json_integer_value(json_object_get(device, "number")));
    json_t *found = inspect(INSPECT_DEVICE, number, why);
    json_object_update(device, found);
    json_decref(found);
    json_t *opencl = json_object_get(device, "opencl"), *shared = json_object_get(device, "gl-shared");
    const char *failed = json_string_value(json_object_get(opencl, "why"));
    const char *unshared = json_string_value(json_object_get(shared, "why"));
    list_modes(device, modes, sizeof(modes));
    if (why[0])
        doctor_report(doctor, FINDING_PROBLEM, NULL, "%s '%s' is broken: %s; works before that: %s", number, name, why,
                      modes[0] ? modes : "nothing");
    else if (!json_is_true(json_object_get(opencl, "works")))
        doctor_report(doctor, FINDING_PROBLEM, NULL, "%s '%s' cannot filter: %s", number, name, failed ? failed : "?");
    else if (json_is_true(json_object_get(shared, "works")))
        doctor_report(doctor, FINDING_OK, NULL, "%s '%s' works: %s", number, name, modes);
    else
        doctor_report(doctor, FINDING_OK, NULL, "%s '%s' works: %s; gl-shared: %s", number, name, modes,
                      unshared ? unshared : "not tested");
}

static void check_devices(struct doctor *doctor)
{
    char broken[INSPECT_WHY];
    drivers_guard(&(struct driver_guard){.vendors = doctor->vendors, .quiet = true, .again = true}); // check_drivers
    json_t *found = inspect(INSPECT_OPENCL, "", broken);
    const char *why = broken[0] ? broken : json_string_value(json_object_get(found, "why"));
    size_t i;
    json_t *device;
    doctor->devices = json_incref(json_object_get(found, "devices"));
    json_array_foreach(doctor->devices, i, device) check_device(doctor, device);
    if (json_array_size(doctor->devices) == 0 && doctor->has_drivers)
        doctor_report(doctor, FINDING_PROBLEM, NULL, "there is no OpenCL device: %s; only the cpu path works",
                      why ? why : "?");
    json_decref(found);
}

// ---- display and GL ----

static const char *variable(const char *name)
{
    const char *value = getenv(name);
    return value && *value ? value : NULL;
}

static void check_display(struct doctor *doctor)
{
    const char *x11 = variable("DISPLAY"), *wayland = variable("WAYLAND_DISPLAY");
    if (!x11 && !wayland)
        doctor_report(doctor, FINDING_WARNING, "export DISPLAY=:0   # on the machine's own screen; over ssh: ssh -X",
                      "there is no display: DISPLAY and WAYLAND_DISPLAY are not set; without one, use --headless");
    else if (!x11)
        doctor_report(doctor, FINDING_WARNING, "sudo apt install xwayland   # then log in again",
                      "Wayland at %s has no X server: monocle with GLFW before 3.4 needs XWayland", wayland);
    else
        doctor_report(doctor, FINDING_OK, NULL, "DISPLAY is %s%s%s", x11, text_if(wayland, ", WAYLAND_DISPLAY is "),
                      text_or(wayland, ""));
}

// Reports one kind of context. Returns true if it works.
static bool check_kind(struct doctor *doctor, json_t *found, const char *kind, const char *prefix)
{
    json_t *context = json_object_get(found, kind);
    const char *text = json_string_value(json_object_get(context, "text"));
    const bool software = json_is_true(json_object_get(context, "software"));
    if (!text || !json_is_true(json_object_get(context, "works")))
        return false;
    if (software && doctor->gpus > 0)
        doctor_report(
            doctor, FINDING_WARNING,
            "sudo apt install libgl1-mesa-dri   # NVIDIA: nvidia-driver; Xvfb, VNC and ssh -X always use the CPU",
            "%s%s: the CPU draws, but there is a GPU", prefix, text);
    else
        doctor_report(doctor, FINDING_OK, NULL, "%s%s%s", prefix, text, software ? " (the CPU draws)" : "");
    if (!json_is_true(json_object_get(context, "filters")))
        doctor_report(doctor, FINDING_WARNING, "sudo apt install libgl1-mesa-dri   # or a newer GL driver",
                      "%sthe gl path does not work with %s: %s", prefix, text,
                      json_string_value(json_object_get(context, "why")));
    return true;
}

static void check_windows(struct doctor *doctor, json_t *found, bool broken)
{
    static const char *const kinds[] = {"GLX", "EGL", "ES"};
    int works = 0;
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++)
        works += check_kind(doctor, found, kinds[i], "");
    const char *text = json_string_value(json_object_get(json_object_get(found, "GLX"), "text"));
    if (works > 0 || broken)
        return;
    if (text && strstr(text, "cannot open the display"))
        doctor_report(doctor, FINDING_PROBLEM,
                      "xhost +si:localuser:$(id -un)   # in a terminal of the session that owns the display", "%s",
                      text);
    else
        doctor_report(doctor, FINDING_PROBLEM, "sudo apt install libgl1-mesa-dri libegl1 libgles2",
                      "no window can be opened: %s", text ? text : "?");
}

static void check_gl(struct doctor *doctor)
{
    char why[INSPECT_WHY];
    json_t *found = inspect(INSPECT_GL, "", why);
    if (variable("DISPLAY") || variable("WAYLAND_DISPLAY")) // otherwise, check_display has reported it
        check_windows(doctor, found, why[0] != '\0');
    const char *text = json_string_value(json_object_get(json_object_get(found, "headless"), "text"));
    if (!check_kind(doctor, found, "headless", "without a window: ") && !why[0])
        doctor_report(doctor, FINDING_WARNING, "sudo apt install libgl1-mesa-dri libegl1 libgles2",
                      "no GL without a window: %s", text ? text : "?");
    if (why[0])
        doctor_report(doctor, FINDING_PROBLEM, NULL, "the GL driver is broken: %s", why);
    json_decref(found);
}

// ---- cameras ----

#define LOAD_LOOPBACK "sudo modprobe v4l2loopback video_nr=10 exclusive_caps=1 card_label=monocle"

static void check_permission(struct doctor *doctor, const char *name)
{
    char below[PATH_MAX];
    snprintf(below, sizeof(below), "/dev/%s", name);
    doctor_may_use(doctor, below, "video");
}

static void note_isp(struct doctor *doctor, const char *node)
{
    char below[PATH_MAX], name[64];
    snprintf(below, sizeof(below), "/sys/class/video4linux/%s/name", node);
    const struct camera_isp *isp = doctor_read(doctor, below, name, sizeof(name)) ? camera_isp("", name) : NULL;
    if (isp && !doctor->isp)
        doctor->isp = isp->name;
}

// Returns the first camera of PipeWire that monocle shows without its name; false if there is none.
static bool find_pipewire(const struct doctor *doctor, char path[CAMERA_NODE])
{
    int count = 0;
    struct camera_node *nodes = doctor->root[0] == '\0' ? source_cameras(&count) : NULL;
    bool found = false;
    for (int i = 0; i < count && !found; i++) {
        found = source_has_word(nodes[i].path) && !nodes[i].passed[0];
        memcpy(path, nodes[i].path, CAMERA_NODE);
    }
    free(nodes);
    return found;
}

// Reports that no node is usable.
static void report_no_camera(struct doctor *doctor, const char *why)
{
    char path[CAMERA_NODE];
    if (find_pipewire(doctor, path)) {
        doctor_report(doctor, FINDING_OK, NULL, "%s; monocle shows %s, a camera of PipeWire", why, path);
        return;
    }
    const bool pi = hardware_has(doctor, "Raspberry Pi");
    const char *fix = doctor->isp || pi
                          ? "sudo apt install libcamera-tools libcamera-v4l2 && libcamerify monocle live   # or, "
                            "on Debian 13: sudo apt install libspa-0.2-libcamera"
                          : NULL;
    if (doctor->isp)
        doctor_report(doctor, FINDING_WARNING, fix,
                      "the cameras of the image signal processor %s need libcamera; monocle shows a photograph",
                      doctor->isp);
    else
        doctor_report(doctor, FINDING_WARNING, fix, "%s; monocle shows a photograph%s", why, pi ? "" : "; plug one in");
}

// Reports what a child found about a node, unless it opens, but is no camera, or belongs to an image signal processor.
// Returns true if it may be a camera.
static bool report_node(struct doctor *doctor, const char *path, json_t *node)
{
    const char *name = "?", *driver = "?", *why = "?", *passed = "";
    json_unpack(node, "{s:s,s:s,s:s,s:s}", "name", &name, "driver", &driver, "why", &why, "passed", &passed);
    const bool opened = json_is_true(json_object_get(node, "opened"));
    if (why[0] == '\0' && passed[0] && camera_isp(driver, name))
        return false;
    if (why[0] == '\0' && passed[0] == '\0')
        doctor_report(doctor, FINDING_OK, NULL, "%s '%s' answers (driver %s)", path, name, driver);
    else if (why[0] == '\0')
        doctor_report(doctor, FINDING_WARNING, NULL, "%s '%s' (driver %s): %s", path, name, driver, passed);
    else if (!opened && !strstr(why, "Permission denied")) // check_permission has reported that
        doctor_report(doctor, FINDING_PROBLEM, NULL, "%s cannot be opened: %s", path, why);
    return why[0] == '\0' || !opened;
}

// The real nodes.
static void ask_cameras(struct doctor *doctor)
{
    char why[INSPECT_WHY];
    const char *path;
    json_t *found = inspect(INSPECT_CAMERAS, "", why), *node;
    int count = 0;
    json_object_foreach(found, path, node) count += report_node(doctor, path, node);
    if (why[0])
        doctor_report(doctor, FINDING_PROBLEM, "sudo dmesg | tail   # prints the messages of the camera's driver",
                      "a camera's driver does not answer: %s", why);
    else if (count == 0)
        report_no_camera(doctor, "no node /dev/video* is a camera");
    json_decref(found);
}

static void check_cameras(struct doctor *doctor)
{
    static const char none[] = "there is no camera";
    const int nodes = doctor_entries(doctor, "/sys/class/video4linux", "video", note_isp);
    if (doctor_entries(doctor, "/dev", "video", check_permission) > 0) {
        if (doctor->root[0] == '\0')
            ask_cameras(doctor);
        else if (doctor->isp)
            report_no_camera(doctor, none);
    } else if (nodes > 0)
        doctor_report(doctor, FINDING_PROBLEM, "docker run --device=/dev/video0",
                      "there is a camera, but no /dev/video*: this container has no access to it");
    else
        report_no_camera(doctor, none);
}

static void check_pipewire(struct doctor *doctor)
{
    int count = 0, found = 0;
    struct camera_node *nodes = doctor->root[0] == '\0' ? source_cameras(&count) : NULL;
    for (int i = 0; i < count; i++)
        if (source_has_word(nodes[i].path)) {
            doctor_report(doctor, FINDING_OK, NULL, "%s '%s' is a camera of PipeWire", nodes[i].path, nodes[i].card);
            found++;
        }
    if (source_lacks("pipewire"))
        doctor_report(
            doctor, FINDING_WARNING, "sudo apt install libpipewire-0.3-dev   # and build monocle again",
            "PipeWire is disabled in this build; only the source and the virtual camera pipewire[:NAME] need it");
    else if (doctor->root[0] == '\0' && found == 0)
        doctor_report(doctor, FINDING_OK, NULL,
                      "there is no PipeWire daemon, or it has no camera; only the source and the virtual camera "
                      "pipewire[:NAME] need it");
    free(nodes);
}

static bool is_installed(struct doctor *doctor)
{
    static const char *const places[] = {"updates/dkms", "updates", "extra"};
    struct utsname system;
    uname(&system);
    for (size_t i = 0; i < sizeof(places) / sizeof(*places); i++) {
        char below[PATH_MAX];
        snprintf(below, sizeof(below), "/lib/modules/%s/%s", system.release, places[i]);
        if (doctor_entries(doctor, below, "v4l2loopback.ko", NULL) > 0)
            return true;
    }
    return false;
}

static void check_virtual_camera(struct doctor *doctor)
{
    if (doctor_has(doctor, "/sys/module/v4l2loopback"))
        doctor_report(doctor, FINDING_OK, NULL, "v4l2loopback is loaded");
    else if (is_installed(doctor))
        doctor_report(doctor, FINDING_WARNING, LOAD_LOOPBACK,
                      "v4l2loopback is installed, but not loaded; only --virtual-camera /dev/videoN needs it");
    else
        doctor_report(doctor, FINDING_WARNING,
                      "sudo apt install v4l2loopback-dkms linux-headers-$(uname -r) && " LOAD_LOOPBACK,
                      "v4l2loopback is not installed; only --virtual-camera /dev/videoN needs it");
}

// ---- system ----

// Counts the files in an open directory, and closes it.
static void count_files(int directory, int *files, double *megabytes)
{
    DIR *list = fdopendir(directory);
    const struct dirent *entry;
    double bytes = 0;
    *files = 0;
    while (list && (entry = readdir(list))) {
        struct stat status;
        if (fstatat(directory, entry->d_name, &status, AT_SYMLINK_NOFOLLOW) != 0 || !S_ISREG(status.st_mode))
            continue;
        *files += 1;
        bytes += (double)status.st_size;
    }
    *megabytes = bytes / 1e6;
    if (list)
        closedir(list);
    else
        close(directory);
}

static bool is_writable(const char *directory)
{
    char path[PATH_MAX];
    return snprintf(path, sizeof(path), "%s/.monocle-probe", directory) < PATH_MAX && file_writable(path, false);
}

// Reports a directory that could not be opened. `use`: what monocle stores there.
static void report_unusable(struct doctor *doctor, const char *path, const char *unsafe, const char *variable,
                            const char *use)
{
    char fix[PATH_MAX + 64];
    if (unsafe && strstr(unsafe, "other users"))
        snprintf(fix, sizeof(fix), "chmod go-w %s", path);
    else
        snprintf(fix, sizeof(fix), "export %s=DIR   # a directory that only you can write", variable);
    doctor_report(doctor, FINDING_PROBLEM, fix, "monocle cannot store %s: %s %s", use, path[0] ? path : "HOME",
                  text_or(unsafe, "cannot be made"));
}

static void check_cache(struct doctor *doctor)
{
    static const char use[] = "compiled kernels, and compiles them at every start";
    char path[PATH_MAX] = "";
    const char *unsafe, *pocl = getenv("POCL_CACHE_DIR");
    const int directory = cache_open(path, &unsafe);
    if (directory < 0)
        report_unusable(doctor, path, unsafe, "XDG_CACHE_HOME", use);
    else if (!is_writable(path)) {
        close(directory);
        report_unusable(doctor, path, "cannot be written", "XDG_CACHE_HOME", use);
    } else {
        int files;
        double megabytes;
        count_files(directory, &files, &megabytes);
        doctor_report(doctor, FINDING_OK, NULL, "%s has %d files, %.1f MB", path, files, megabytes);
    }
    if (pocl && strstr(pocl, "/monocle-pocl-")) // pocl.h
        doctor_report(doctor, FINDING_WARNING, "export POCL_CACHE_DIR=DIR   # a directory that only you can write",
                      "PoCL cannot store compiled kernels in its own directory, and compiles them at every start");
}

static void check_results(struct doctor *doctor)
{
    char path[PATH_MAX];
    const char *unsafe;
    const int directory = data_open(path, false, &unsafe);
    if (directory < 0 && !unsafe && errno == ENOENT && path[0]) {
        doctor_report(doctor, FINDING_OK, NULL, "there are no tuning results of your own yet");
        return;
    }
    if (directory < 0) {
        report_unusable(doctor, path, unsafe, "XDG_DATA_HOME", "tuning results");
        return;
    }
    close(directory);
    if (is_writable(path))
        doctor_report(doctor, FINDING_OK, NULL, "%s can be written", path);
    else
        report_unusable(doctor, path, "cannot be written", "XDG_DATA_HOME", "tuning results");
}

static void check_programs(struct doctor *doctor)
{
    char path[PATH_MAX];
    if (program_find("cc", path, sizeof(path)))
        doctor_report(doctor, FINDING_OK, NULL, "the C compiler cc is installed");
    else
        doctor_report(doctor, FINDING_WARNING, "sudo apt install gcc",
                      "the C compiler cc is not installed; the cpu path needs it for users' filters");
    if (program_find("ffmpeg", path, sizeof(path)))
        doctor_report(doctor, FINDING_OK, NULL, "ffmpeg is installed");
    else
        doctor_report(doctor, FINDING_WARNING, "sudo apt install ffmpeg",
                      "ffmpeg is not installed; monocle needs it to read and to make videos other than Y4M");
}

static void check_mattes(struct doctor *doctor)
{
    for (const struct matte_network *network = matte_networks; network->name; network++) {
        const bool installed = matte_network_ready(network);
        doctor_report(doctor, FINDING_OK, NULL, "the network that finds %s is %sinstalled%s%s", network->help,
                      text_if(!installed, "not "), text_if(!installed, "; run: monocle matte --install "),
                      text_if(!installed, network->name));
    }
}

// ---- all checks ----

static const struct check {
    const char *name;
    void (*run)(struct doctor *doctor);
} checks[] = {
    {"drivers", check_drivers},
    {"devices", check_devices},
    {"gpus", check_gpus},
    {"render nodes", check_render_nodes},
    {"display", check_display},
    {"gl", check_gl},
    {"cameras", check_cameras},
    {"pipewire", check_pipewire},
    {"virtual camera", check_virtual_camera},
    {"cache", check_cache},
    {"results", check_results},
    {"programs", check_programs},
    {"mattes", check_mattes},
};

void doctor_run(const char *root, void (*found)(void *context, const struct finding *finding), void *context)
{
    struct doctor doctor = {.root = root, .found = found, .context = context};
    doctor_path(&doctor, doctor.vendors, DRIVERS_VENDORS);
    if (root[0])
        setenv("OCL_ICD_VENDORS", doctor.vendors, 0);
    hardware_find(&doctor);
    for (size_t i = 0; i < sizeof(checks) / sizeof(*checks); i++) {
        doctor.check = checks[i].name;
        checks[i].run(&doctor);
    }
    json_decref(doctor.devices);
}
