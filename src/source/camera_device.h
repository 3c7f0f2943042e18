// camera_device.h: a V4L2 device node of a camera
#pragma once

#include "image/videodev.h"

#include <sys/types.h>

struct camera_device {
    int fd;        // -1 when closed
    bool multi;    // it supports only the multi-planar API
    uint32_t type; // buffer type
    bool converts; // libv4l2 converts the frames
    char path[256];
    char card[32]; // name of the camera, from the driver
    char bus[32];  // port of the camera: "usb-0000:00:14.0-3"
    char driver[16];
};

// Returns why the device may give no frames: it is v4l2loopback, and no program writes to it. NULL for other drivers.
// Static text.
const char *camera_device_idle(const char *driver);

// Opens the node. Returns NULL if it can capture video, else the reason with advice. Call camera_device_close in either
// case.
const char *camera_device_open(struct camera_device *device, const char *path);
void camera_device_close(struct camera_device *device);

// Makes libv4l2 convert the frames of an open camera to formats that monocle reads, such as rgb24. The buffers must
// then be mapped, and they are lost when the stream stops. Returns false if it cannot.
bool camera_device_convert(struct camera_device *device);

// Calls ioctl, or v4l2_ioctl if the device converts; otherwise as videodev_ask.
int camera_device_ask(const struct camera_device *device, unsigned long request, void *argument);
// Maps a buffer of the driver. Returns MAP_FAILED on failure.
void *camera_device_map(const struct camera_device *device, size_t length, off_t offset);
// `converted`: the value of device->converts when the buffer was mapped.
void camera_device_unmap(void *memory, size_t length, bool converted);
