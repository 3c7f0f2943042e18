// camera_device.h: a V4L2 device node: opened, asked
#pragma once

#include <linux/videodev2.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct camera_device {
    int fd;          // -1 when closed
    bool multi;      // it speaks the multi-planar API only
    uint32_t type;   // of its buffers
    bool converting; // through libv4l2, because the camera offers no format of ours
    char path[256];
    char card[32]; // what the driver calls the camera
    char bus[32];  // where it is plugged in: "usb-0000:00:14.0-3"
    char driver[16];
};

// Opens the node if it is a camera that captures. Returns NULL, or the reason with advice; close it in any case.
const char *camera_device_open(struct camera_device *device, const char *path);
void camera_device_close(struct camera_device *device);
// Lets libv4l2 convert what the camera offers into a format of ours.
bool camera_device_convert(struct camera_device *device);

// The ioctl of the device, again when a signal interrupts it. 0, or -1 with errno set.
int camera_device_ask(const struct camera_device *device, unsigned long request, void *argument);
void *camera_device_map(const struct camera_device *device, size_t length, off_t offset); // MAP_FAILED on failure
void camera_device_unmap(const struct camera_device *device, void *memory, size_t length);

// The meaning of errno for a camera, with advice.
const char *camera_device_advice(int error);
