// check_video.c: checks the cameras and the virtual camera
#include "inspect/doctor_checks.h"

#include <jansson.h>
#include <stdlib.h>
#include <string.h>
#include <sys/utsname.h>

#define LOAD_LOOPBACK "sudo modprobe v4l2loopback video_nr=10 exclusive_caps=1 card_label=monocle"

static void check_permission(struct doctor *doctor, const char *name)
{
    char below[PATH_MAX];
    snprintf(below, sizeof(below), "/dev/%s", name);
    doctor_may_use(doctor, below, "video");
}

// Image signal processors of laptops and boards. Their nodes give raw data of a sensor, or no frames at all until
// libcamera sets them up. The text is a part of the node's name or of its driver's.
static const struct isp {
    const char *text, *name;
    bool idle; // its nodes offer formats that monocle reads, but a program must first feed them
} isps[] = {
    {"ipu3", "Intel IPU3", false},
    {"ipu6", "Intel IPU6", false},
    {"ipu7", "Intel IPU7", false},
    {"isys", "Intel IPU6", false},
    {"unicam", "Raspberry Pi unicam", false},
    {"bcm2835-isp", "Raspberry Pi ISP", true},
    {"rp1-cfe", "Raspberry Pi CFE", false},
    {"pispbe", "Raspberry Pi PiSP", true},
    {"rkisp1", "Rockchip ISP1", true},
    {"msm_vfe", "Qualcomm CAMSS", false},
};

// Returns NULL if it is none that is known.
static const struct isp *find_isp(const char *name)
{
    for (size_t i = 0; i < sizeof(isps) / sizeof(*isps); i++)
        if (strcasestr(name, isps[i].text))
            return &isps[i];
    return NULL;
}

static void note_isp(struct doctor *doctor, const char *node)
{
    char below[PATH_MAX], name[64];
    snprintf(below, sizeof(below), "/sys/class/video4linux/%s/name", node);
    const struct isp *isp = doctor_read(doctor, below, name, sizeof(name)) ? find_isp(name) : NULL;
    if (isp && !doctor->isp)
        doctor->isp = isp->name;
}

// Reports that no node is usable.
static void report_no_camera(struct doctor *doctor, const char *why)
{
    const bool pi = hardware_has(doctor, "Raspberry Pi");
    const char *fix =
        doctor->isp || pi
            ? "sudo apt install libcamera-tools libcamera-v4l2 && libcamerify monocle live   # CSI cameras"
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
    const char *name = "?", *driver = "?", *why = "?";
    json_unpack(node, "{s:s,s:s,s:s}", "name", &name, "driver", &driver, "why", &why);
    const bool opened = json_is_true(json_object_get(node, "opened"));
    const bool readable = json_is_true(json_object_get(node, "readable"));
    const struct isp *isp = find_isp(driver) ? find_isp(driver) : find_isp(name);
    if (why[0] == '\0' && isp && (isp->idle || !readable))
        return false;
    if (why[0] == '\0' && readable)
        doctor_report(doctor, FINDING_OK, NULL, "%s '%s' answers (driver %s)", path, name, driver);
    else if (why[0] == '\0')
        doctor_report(doctor, FINDING_WARNING, NULL, "%s '%s' (driver %s) offers no pixel format that monocle reads",
                      path, name, driver);
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

void check_cameras(struct doctor *doctor)
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

void check_virtual_camera(struct doctor *doctor)
{
    if (doctor_has(doctor, "/sys/module/v4l2loopback"))
        doctor_report(doctor, FINDING_OK, NULL, "v4l2loopback is loaded");
    else if (is_installed(doctor))
        doctor_report(doctor, FINDING_WARNING, LOAD_LOOPBACK,
                      "v4l2loopback is installed, but not loaded; only --virtual-camera needs it");
    else
        doctor_report(doctor, FINDING_WARNING,
                      "sudo apt install v4l2loopback-dkms linux-headers-$(uname -r) && " LOAD_LOOPBACK,
                      "v4l2loopback is not installed; only --virtual-camera needs it");
}
