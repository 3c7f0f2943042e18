// camera_device.c: opens a V4L2 device node
#include "source/camera_device.h"

#include <errno.h>
#include <fcntl.h>
#include <libv4l2.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

// libcamera's and PipeWire's layers for V4L2 replace functions of the C library. libv4l2 bypasses them, because it
// makes system calls itself. Therefore monocle calls libv4l2 only for a camera whose frames it converts.

int camera_device_ask(const struct camera_device *device, unsigned long request, void *argument)
{
    int result;
    if (!device->converts)
        return videodev_ask(device->fd, request, argument);
    do
        result = v4l2_ioctl(device->fd, request, argument);
    while (result < 0 && errno == EINTR);
    return result;
}

void *camera_device_map(const struct camera_device *device, size_t length, off_t offset)
{
    const int protection = PROT_READ | PROT_WRITE;
    return device->converts ? v4l2_mmap(NULL, length, protection, MAP_SHARED, device->fd, offset)
                            : mmap(NULL, length, protection, MAP_SHARED, device->fd, offset);
}

void camera_device_unmap(void *memory, size_t length, bool converted)
{
    if (converted)
        v4l2_munmap(memory, length);
    else
        munmap(memory, length);
}

bool camera_device_convert(struct camera_device *device)
{
    // libv4l2 asks for the format, too, and prints an error if there is none.
    struct v4l2_format present = {.type = device->type};
    device->converts = camera_device_ask(device, VIDIOC_G_FMT, &present) == 0 &&
                       v4l2_fd_open(device->fd, V4L2_ENABLE_ENUM_FMT_EMULATION) == device->fd;
    return device->converts;
}

const char *camera_device_idle(const char *driver)
{
    return strcmp(driver, "v4l2 loopback") == 0
               ? "it is a virtual camera, and no program writes to it; start the program that does"
               : NULL;
}

// Returns why a node with these abilities is not usable as a camera; NULL if it is.
static const char *unfit(uint32_t can, const char *driver)
{
    if (can & (V4L2_CAP_VIDEO_CAPTURE | V4L2_CAP_VIDEO_CAPTURE_MPLANE))
        return can & V4L2_CAP_STREAMING ? NULL : "its driver does not support streaming I/O";
    if (can & V4L2_CAP_META_CAPTURE)
        return "it is a metadata node of a camera; use the node with the number before it";
    if (camera_device_idle(driver) && can & V4L2_CAP_VIDEO_OUTPUT) // with exclusive_caps=1
        return camera_device_idle(driver);
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
    if (camera_device_ask(device, VIDIOC_QUERYCAP, &about) != 0)
        return errno == ENODEV ? videodev_advice(errno)
                               : "it is not a V4L2 device; to list the cameras, run: monocle cameras";
    snprintf(device->card, sizeof(device->card), "%s", (const char *)about.card);
    snprintf(device->bus, sizeof(device->bus), "%s", (const char *)about.bus_info);
    snprintf(device->driver, sizeof(device->driver), "%s", (const char *)about.driver);
    const uint32_t can = videodev_abilities(&about);
    device->multi = !(can & V4L2_CAP_VIDEO_CAPTURE) && can & V4L2_CAP_VIDEO_CAPTURE_MPLANE;
    device->type = device->multi ? V4L2_BUF_TYPE_VIDEO_CAPTURE_MPLANE : V4L2_BUF_TYPE_VIDEO_CAPTURE;
    return unfit(can, device->driver);
}

void camera_device_close(struct camera_device *device)
{
    if (device->fd >= 0 && device->converts)
        v4l2_close(device->fd);
    else if (device->fd >= 0)
        close(device->fd);
    device->fd = -1;
}
