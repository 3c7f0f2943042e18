// videodev.h: V4L2 helpers for cameras and virtual cameras: ioctl, errors, colours and the layout of buffers
#pragma once

#include "image/image.h"

#include <linux/videodev2.h>

// Calls ioctl; repeats the call if a signal interrupts it. Returns 0, or -1 with errno set.
int videodev_ask(int fd, unsigned long request, void *argument);
// Returns the V4L2_CAP_* flags of this node. The member `capabilities` has the flags of all nodes of the device.
uint32_t videodev_abilities(const struct v4l2_capability *about);
// Returns the meaning of an errno value for a V4L2 device, with advice.
const char *videodev_advice(int error);

// Returns matrix and range of a driver's format. If the driver does not report one, the kernel's default rules apply
// (V4L2_MAP_*_DEFAULT of linux/videodev2.h), except that formats with only luma have full range. It stays unknown if
// the driver does not report the colour space either. Compressed frames have full range and matrix 601, as in JPEG,
// unless the driver reports others.
struct color videodev_color(const struct v4l2_pix_format *format, bool compressed);
// Points an image into a driver's buffer; `image` may be NULL. The planes follow each other, and their padding is
// proportional to that of the first plane, as the kernel documents the formats. If sizeimage is the size of several
// planes without padding, they have none. Returns the number of bytes that the frame needs, without the padding after
// the last row.
size_t videodev_lay_out(const struct v4l2_pix_format *format, const struct image_shape *shape, void *memory,
                        struct image *image);
