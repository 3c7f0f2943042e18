// camera_interfaces.h: compares V4L2's other interfaces with the frames of the usual one
#pragma once

#include "check.h"

#include "image/image.h"

// What a camera showed in each format, and what the frames were; no memory: nothing.
struct camera_pictures {
    struct image rgba[PIXFMT_COUNT];
    struct image_shape shape[PIXFMT_COUNT];
};

// Sets a control of the driver by its name. False where it has none of that name.
bool camera_control(const char *node, const char *name, int value);
// Every other camera there is must show the same bytes; of multi-planar ones also with each plane in its own memory.
void camera_interfaces(struct check *check, const char *node, const struct camera_pictures *known);
