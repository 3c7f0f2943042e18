// camera_device.c: opens a V4L2 device node
#include "source/camera_device.h"

#include "base/clock.h"

#include <errno.h>
#include <fcntl.h>
#include <libv4l2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

// libcamera's and PipeWire's layers for V4L2 replace functions of the C library. libv4l2 bypasses them, because it
// makes system calls itself. Therefore monocle calls libv4l2 only for a camera whose frames it converts.

// The structures of these requests begin with the index.
static bool is_list(unsigned long request)
{
    return request == VIDIOC_ENUM_FMT || request == VIDIOC_ENUM_FRAMESIZES || request == VIDIOC_ENUM_FRAMEINTERVALS;
}

int camera_device_ask(const struct camera_device *device, unsigned long request, void *argument)
{
    int result;
    if (is_list(request) && *(const uint32_t *)argument >= CAMERA_ITEMS) {
        errno = EINVAL;
        return -1;
    }
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
    struct v4l2_format wanted = {.type = device->type};
    struct camera_device converting = *device;
    struct v4l2_fmtdesc last = {.index = CAMERA_ITEMS - 1, .type = device->type};
    if (camera_device_ask(device, VIDIOC_G_FMT, &wanted) != 0)
        return false;
    if (camera_device_ask(device, VIDIOC_ENUM_FMT, &last) == 0) // libv4l2 would read this list for ever
        return false;
    converting.fd = fcntl(device->fd, F_DUPFD_CLOEXEC, 0);
    converting.converts = v4l2_fd_open(converting.fd, V4L2_ENABLE_ENUM_FMT_EMULATION) == converting.fd;
    // libv4l2 lists rgb24 for every camera. If it cannot convert, it answers with the camera's own format, or for a USB
    // camera with rgb24 and no pixels.
    wanted.fmt.pix.pixelformat = V4L2_PIX_FMT_RGB24;
    if (!converting.converts || camera_device_ask(&converting, VIDIOC_TRY_FMT, &wanted) != 0 ||
        wanted.fmt.pix.pixelformat != V4L2_PIX_FMT_RGB24 || wanted.fmt.pix.width == 0) {
        camera_device_close(&converting);
        return false;
    }
    close(device->fd);
    *device = converting;
    return true;
}

#define LIBCAMERA "libcamera; run: sudo apt install libcamera-tools libcamera-v4l2 && libcamerify monocle live"
#define JETSON "nvarguscamerasrc of GStreamer; docs/cameras.md has the command"

const struct camera_isp *camera_isp(const char *driver, const char *name)
{
    static const struct camera_isp isps[] = {
        {"ipu3", "Intel IPU3", LIBCAMERA, true},
        {"ipu6", "Intel IPU6", LIBCAMERA, true},
        {"ipu7", "Intel IPU7", LIBCAMERA, true},
        {"isys", "Intel IPU6", LIBCAMERA, true},
        {"unicam", "Raspberry Pi unicam", LIBCAMERA, false},
        {"bcm2835-isp", "Raspberry Pi ISP", LIBCAMERA, true},
        {"rp1-cfe", "Raspberry Pi CFE", LIBCAMERA, false},
        {"pispbe", "Raspberry Pi PiSP", LIBCAMERA, true},
        {"rkisp", "Rockchip ISP", LIBCAMERA, true},
        {"rkcif", "Rockchip CIF", LIBCAMERA, true},
        {"msm_vfe", "Qualcomm CAMSS", LIBCAMERA, true},
        {"camss", "Qualcomm CAMSS", LIBCAMERA, true},
        {"tegra-video", "NVIDIA Jetson", JETSON, false},
    };
    for (size_t i = 0; i < sizeof(isps) / sizeof(*isps); i++)
        if (strcasestr(driver, isps[i].text) || (!camera_device_idle(driver) && strcasestr(name, isps[i].text)))
            return &isps[i];
    return NULL;
}

const char *camera_device_idle(const char *driver)
{
    return strcmp(driver, "v4l2 loopback") == 0
               ? "it is a virtual camera, and no program writes to it; start the program that does"
               : NULL;
}

const char *camera_device_advice(const struct camera_device *device, int error)
{
    const char *idle = error == EIO ? camera_device_idle(device->driver) : NULL;
    if (error == EPIPE || error == ENOLINK) // a request stalled, or a part of the pipeline is off
        return strcmp(device->driver, "uvcvideo") == 0
                   ? "its USB connection has a fault; unplug the camera and plug it in again"
                   : "the image processor is not set up; it needs " LIBCAMERA;
    return idle ? idle : videodev_advice(error);
}

bool camera_device_is_new(const char *path)
{
    enum { NEW_S = 2 };
    struct stat node;
    return stat(path, &node) == 0 && llabs((long long)(time(NULL) - node.st_ctim.tv_sec)) <= NEW_S;
}

// Opens a node.
static int open_node(const char *path)
{
    enum { TURN_MS = 50, LIMIT_MS = 1000 };
    const int64_t deadline_ns = clock_now_ns() + LIMIT_MS * NS_PER_MS;
    for (;;) {
        const int fd = open(path, O_RDWR | O_NONBLOCK | O_CLOEXEC), error = errno;
        if (fd >= 0 || (error != EACCES && error != EBUSY) || clock_now_ns() >= deadline_ns ||
            !camera_device_is_new(path)) {
            errno = error;
            return fd;
        }
        clock_sleep_until_ns(clock_now_ns() + TURN_MS * NS_PER_MS);
    }
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
    device->fd = open_node(path);
    if (device->fd < 0)
        return errno == ENODEV || errno == ENXIO ? "no device answers; plug the camera in again, or load its driver"
                                                 : videodev_advice(errno);
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
