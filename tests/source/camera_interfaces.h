// camera_interfaces.h: compares V4L2's other interfaces with the frames of the usual one
#pragma once

#include "check.h"

#include "image/image.h"

// The frames of a camera in each format; a format without memory has no frame.
struct camera_pictures {
    struct image rgba[PIXFMT_COUNT];
    struct image_shape shape[PIXFMT_COUNT];
};

// Sets a control of the driver by its name. Returns false if it has none with this name.
bool camera_control(const char *node, const char *name, int value);
// Checks that every other camera gives the same bytes, multi-planar ones also with each plane in its own memory.
void camera_interfaces(struct check *check, const char *node, const struct camera_pictures *known);
