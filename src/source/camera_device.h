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

// The longest enumeration of formats, sizes, rates, controls or menu items: some drivers ignore the index, so that
// their lists never end.
enum { CAMERA_ITEMS = 512 };

// An image processor of a laptop or a board. Until another program sets it up, its nodes give the raw data of a sensor,
// or no frames at all.
struct camera_isp {
    const char *text; // a part of the node's name, or of its driver's
    const char *name;
    const char *needs; // "libcamera; run: ..."
    bool idle;         // its nodes offer formats that monocle reads, although they give no frames
};
// Returns the image processor of a node by the names of its driver and of itself; NULL if the node has none.
const struct camera_isp *camera_isp(const char *driver, const char *name);

// Returns why the device may give no frames: it is v4l2loopback, and no program writes to it. NULL for other drivers.
// Static text.
const char *camera_device_idle(const char *driver);
// Returns the meaning of an errno value of this device, with advice. Static text.
const char *camera_device_advice(const struct camera_device *device, int error);

// Opens the node. Returns NULL if it can capture video, else the reason with advice. If another program has a node that
// is new, or if udev has not set its permissions yet, tries again for at most 1 s. Call camera_device_close in either
// case.
const char *camera_device_open(struct camera_device *device, const char *path);
// Returns true if the node was made, or its permissions were changed, a moment ago.
bool camera_device_is_new(const char *path);
void camera_device_close(struct camera_device *device);

// Makes libv4l2 convert the frames of an open camera to formats that monocle reads, such as rgb24. The buffers must
// then be mapped, and they are lost when the stream stops. Returns false, and changes nothing, if libv4l2 does not read
// the camera's formats.
bool camera_device_convert(struct camera_device *device);

// Calls ioctl, or v4l2_ioctl if the device converts; otherwise as videodev_ask. An enumeration ends after CAMERA_ITEMS.
int camera_device_ask(const struct camera_device *device, unsigned long request, void *argument);
// Maps a buffer of the driver. Returns MAP_FAILED on failure.
void *camera_device_map(const struct camera_device *device, size_t length, off_t offset);
// `converted`: the value of device->converts when the buffer was mapped.
void camera_device_unmap(void *memory, size_t length, bool converted);
