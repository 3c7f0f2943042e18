// camera_output.h: a V4L2 output device (v4l2loopback), which other programs read as a camera
#pragma once

#include "image/image.h"

#include <stdbool.h>
#include <stdint.h>

struct camera_output;

struct camera_output_counts {
    uint64_t sent;     // pictures
    uint64_t skipped;  // of those: that a newer one replaced before the device took them
    uint64_t repeated; // times the last picture went out again because none came in time
};

// `node`: a path, or the number of a /dev/videoN. The pictures are cut from ones of width x height; `rate` is frames
// per second, 0 where it isn't known. NULL on failure (logged, with advice).
struct camera_output *camera_output_open(const char *node, int width, int height, double rate);
void camera_output_close(struct camera_output *output); // takes NULL

const char *camera_output_name(const struct camera_output *output); // "/dev/video10 (its name)"
// What the pictures are: nv12, yuyv or yu12 with even sides (docs/pixels.md section 6).
const struct image_shape *camera_output_shape(const struct camera_output *output);

// The picture to fill; then send it. A thread writes it at once, and again whenever the next one is more than half a
// frame late, so that readers never starve; before the first there is a black one. False when the device takes no more
// (logged once).
struct image *camera_output_picture(struct camera_output *output);
bool camera_output_send(struct camera_output *output);
struct camera_output_counts camera_output_counts(const struct camera_output *output);
