// camera_output_node.c: device nodes for virtual cameras, and advice
#include "source/camera_output_node.h"

#include "base/log.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

enum { NODES_MAX = 256, NODES_TEXT = 160, ADVICE_TEXT = 400 }; // minor numbers of video devices

static const char loopback_driver[] = "v4l2 loopback";

static bool is_loopback(const struct v4l2_capability *about)
{
    return strcmp((const char *)about->driver, loopback_driver) == 0;
}

static uint32_t abilities(const struct v4l2_capability *about)
{
    return about->capabilities & V4L2_CAP_DEVICE_CAPS ? about->device_caps : about->capabilities;
}

// The nodes that could be written to, as " /dev/video10 /dev/video11"; as many as fit.
static void find_outputs(char text[NODES_TEXT])
{
    text[0] = '\0';
    for (int i = 0; i < NODES_MAX && strlen(text) < NODES_TEXT - 32; i++) {
        struct camera_device device = {.fd = -1};
        struct v4l2_capability about = {0};
        snprintf(device.path, sizeof(device.path), "/dev/video%d", i);
        device.fd = open(device.path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
        if (device.fd >= 0 && camera_device_ask(&device, VIDIOC_QUERYCAP, &about) == 0 &&
            abilities(&about) & V4L2_CAP_VIDEO_OUTPUT)
            snprintf(text + strlen(text), NODES_TEXT - strlen(text), " /dev/video%d", i);
        camera_device_close(&device);
    }
}

// Which node to take instead, or how to get one.
static void advise(const char *node, char text[ADVICE_TEXT])
{
    char outputs[NODES_TEXT];
    unsigned number = 10;
    sscanf(node, "/dev/video%u", &number);
    find_outputs(outputs);
    if (outputs[0])
        snprintf(text, ADVICE_TEXT, "virtual cameras on this machine:%s", outputs);
    else if (access("/sys/module/v4l2loopback", F_OK) == 0)
        snprintf(text, ADVICE_TEXT, "v4l2loopback is loaded, but monocle can open none of its devices for output");
    else
        snprintf(text, ADVICE_TEXT,
                 "load the kernel module v4l2loopback: sudo modprobe v4l2loopback video_nr=%u exclusive_caps=1 "
                 "(package v4l2loopback-dkms)",
                 number);
}

static const char *open_failure(int error)
{
    switch (error) {
    case ENOENT:
    case ENODEV:
    case ENXIO:
        return "there is no such device";
    case EBUSY:
        return "too many programs have it open";
    default:
        return camera_device_advice(error); // the rest is as for cameras
    }
}

// Why a node with these abilities can't be a virtual camera, NULL when it can.
static const char *unfit(const struct v4l2_capability *about)
{
    const uint32_t can = abilities(about);
    if (can & V4L2_CAP_VIDEO_OUTPUT)
        return can & V4L2_CAP_READWRITE ? NULL : "its driver does not support write()";
    if (is_loopback(about) && can & V4L2_CAP_VIDEO_CAPTURE)
        return "another program writes to it already; close that program first";
    if (can & (V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_VIDEO_CAPTURE_MPLANE))
        return "it is a camera, not a virtual camera";
    if (can & V4L2_CAP_META_CAPTURE)
        return "it is a metadata node of a camera";
    if (can & V4L2_CAP_VIDEO_OUTPUT_MPLANE)
        return "its driver supports only the multi-planar API";
    return "it is not a video output device";
}

bool camera_output_node_open(struct camera_device *device, const char *node)
{
    struct v4l2_capability about = {0};
    const bool number = node[0] && node[strspn(node, "0123456789")] == '\0';
    *device = (struct camera_device){.fd = -1};
    snprintf(device->path, sizeof(device->path), "%s%s", number ? "/dev/video" : "", node);
    device->fd = open(device->path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    const char *why = NULL;
    if (device->fd < 0)
        why = open_failure(errno);
    else if (camera_device_ask(device, VIDIOC_QUERYCAP, &about) != 0)
        why = "it is not a V4L2 device";
    else
        why = unfit(&about);
    if (why) {
        char advice[ADVICE_TEXT];
        camera_device_close(device);
        advise(device->path, advice);
        log_error("cannot open the virtual camera %s: %s; %s", device->path, why, advice);
        return false;
    }
    snprintf(device->card, sizeof(device->card), "%s", (const char *)about.card);
    if (is_loopback(&about) && abilities(&about) & V4L2_CAP_VIDEO_CAPTURE)
        log_info("browsers list %s only if v4l2loopback was loaded with exclusive_caps=1", device->path);
    return true;
}
