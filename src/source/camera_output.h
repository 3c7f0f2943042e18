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

// Fill the image, then send it. A thread writes it at once, and repeats it whenever the next frame is more than half a
// period late, so that readers never wait. Before the first frame it writes a black one. False if the device refuses
// more frames (logged once).
struct image *camera_output_picture(struct camera_output *output);
bool camera_output_send(struct camera_output *output);
struct camera_output_counts camera_output_counts(const struct camera_output *output);
