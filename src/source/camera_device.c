// camera_device.c: a V4L2 device node: opened, asked
#include "source/camera_device.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

static const struct {
    int error;
    const char *advice;
} advices[] = {
    {ENOENT, "No such file or directory; to list the cameras, run: monocle cameras"},
    {EACCES, "Permission denied; add yourself to the group video: sudo usermod -aG video $USER, then log in again"},
    {EPERM, "Operation not permitted; give the container access to the camera: docker run --device=/dev/video0"},
    {EIO, "Input/output error; if it persists, unplug the camera and plug it in again"},
    {EBUSY, "another program is using it; close that program first"},
    {ENOSPC, "the USB bus has too little bandwidth for this mode; try a smaller --size or another USB port"},
    {ENODEV, "the camera was unplugged"},
    {ENXIO, "the camera was unplugged"},
    {ENOMEM, "out of memory; try a smaller --size"},
};

const char *camera_device_advice(int error)
{
    for (size_t i = 0; i < sizeof(advices) / sizeof(*advices); i++)
        if (advices[i].error == error)
            return advices[i].advice;
    return strerror(error);
}

int camera_device_ask(const struct camera_device *device, unsigned long request, void *argument)
{
    int result;
    do
        result = ioctl(device->fd, request, argument);
    while (result < 0 && errno == EINTR);
    return result;
}

void *camera_device_map(const struct camera_device *device, size_t length, off_t offset)
{
    return mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, device->fd, offset);
}

// Why a node with these abilities is no camera for us, NULL when it is one. A camera may have several nodes: only
// `device_caps` tells them apart, since `capabilities` is about all of them together.
static const char *unfit(uint32_t can)
{
    if (can & (V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_VIDEO_CAPTURE_MPLANE))
        return can & V4L2_CAP_STREAMING ? NULL : "its driver does not support streaming I/O";
    if (can & V4L2_CAP_META_CAPTURE)
        return "it is a metadata node of a camera; use the node with the number before it";
    return "it does not capture video; to list the cameras, run: monocle cameras";
}

const char *camera_device_open(struct camera_device *device, const char *path)
{
    struct v4l2_capability about = {0};
    *device = (struct camera_device){.fd = -1};
    snprintf(device->path, sizeof(device->path), "%s", path);
    device->fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (device->fd < 0)
        return camera_device_advice(errno);
    if (camera_device_ask(device, VIDIOC_QUERYCAP, &about) != 0)
        return errno == ENODEV ? camera_device_advice(errno)
                               : "it is not a V4L2 device; to list the cameras, run: monocle cameras";
    snprintf(device->card, sizeof(device->card), "%s", (const char *)about.card);
    snprintf(device->bus, sizeof(device->bus), "%s", (const char *)about.bus_info);
    snprintf(device->driver, sizeof(device->driver), "%s", (const char *)about.driver);
    const uint32_t can = about.capabilities & V4L2_CAP_DEVICE_CAPS ? about.device_caps : about.capabilities;
    device->multi = !(can & V4L2_CAP_VIDEO_CAPTURE) && can & V4L2_CAP_VIDEO_CAPTURE_MPLANE;
    device->type = device->multi ? V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE : V4L2_BUF_TYPE_VIDEO_CAPTURE;
    return unfit(can);
}

void camera_device_close(struct camera_device *device)
{
    if (device->fd >= 0)
        close(device->fd);
    device->fd = -1;
}
