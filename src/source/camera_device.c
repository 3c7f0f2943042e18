// camera_device.c: opens a V4L2 device node
#include "source/camera_device.h"

#include <errno.h>
#include <fcntl.h>
#include <libv4l2.h>
#include <stdio.h>
#include <sys/mman.h>

void *camera_device_map(const struct camera_device *device, size_t length, off_t offset)
{
    return v4l2_mmap(NULL, length, PROT_READ | PROT_WRITE, MAP_SHARED, device->fd, offset);
}

void camera_device_unmap(void *memory, size_t length)
{
    v4l2_munmap(memory, length);
}

bool camera_device_convert(struct camera_device *device)
{
    device->converts = v4l2_fd_open(device->fd, V4L2_ENABLE_ENUM_FMT_EMULATION) == device->fd;
    return device->converts;
}

// Returns why a node with these abilities is not usable as a camera; NULL if it is.
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
        return videodev_advice(errno);
    if (videodev_ask(device->fd, VIDIOC_QUERYCAP, &about) != 0)
        return errno == ENODEV ? videodev_advice(errno)
                               : "it is not a V4L2 device; to list the cameras, run: monocle cameras";
    snprintf(device->card, sizeof(device->card), "%s", (const char *)about.card);
    snprintf(device->bus, sizeof(device->bus), "%s", (const char *)about.bus_info);
    snprintf(device->driver, sizeof(device->driver), "%s", (const char *)about.driver);
    const uint32_t can = videodev_abilities(&about);
    device->multi = !(can & V4L2_CAP_VIDEO_CAPTURE) && can & V4L2_CAP_VIDEO_CAPTURE_MPLANE;
    device->type = device->multi ? V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE : V4L2_BUF_TYPE_VIDEO_CAPTURE;
    return unfit(can);
}

void camera_device_close(struct camera_device *device)
{
    if (device->fd >= 0)
        v4l2_close(device->fd);
    device->fd = -1;
}
