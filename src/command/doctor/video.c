// video.c: checks the cameras and the virtual camera
#include "command/doctor/doctor.h"

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

// Reports what a child found about a node. A node that opens, but is no camera, is of no interest.
static bool report_node(struct doctor *doctor, const char *path, json_t *node)
{
    const char *name = "?", *driver = "?", *why = "?";
    json_unpack(node, "{s:s,s:s,s:s}", "name", &name, "driver", &driver, "why", &why);
    const bool camera = why[0] == '\0', opened = json_is_true(json_object_get(node, "opened"));
    if (camera)
        doctor_report(doctor, FINDING_OK, NULL, "%s '%s' answers (driver %s)", path, name, driver);
    else if (!opened && !strstr(why, "Permission denied")) // check_permission has reported that
        doctor_report(doctor, FINDING_PROBLEM, NULL, "%s cannot be opened: %s", path, why);
    return camera || !opened;
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
        doctor_report(doctor, FINDING_WARNING, NULL, "no node /dev/video* is a camera; monocle shows a photograph");
    json_decref(found);
}

void check_cameras(struct doctor *doctor)
{
    if (doctor_entries(doctor, "/dev", "video", check_permission) > 0) {
        if (doctor->root[0] == '\0')
            ask_cameras(doctor);
    } else if (doctor_entries(doctor, "/sys/class/video4linux", "video", NULL) > 0)
        doctor_report(doctor, FINDING_PROBLEM, "docker run --device=/dev/video0",
                      "there is a camera, but no /dev/video*: this container has no access to it");
    else if (hardware_has(doctor, "Raspberry Pi"))
        doctor_report(doctor, FINDING_WARNING,
                      "sudo apt install libcamera-tools libcamera-v4l2 && libcamerify monocle live   # CSI cameras",
                      "there is no camera; monocle shows a photograph");
    else
        doctor_report(doctor, FINDING_WARNING, NULL, "there is no camera; monocle shows a photograph; plug one in");
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
