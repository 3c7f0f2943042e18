// camera_output.h: writes frames to a virtual camera, a V4L2 output device such as v4l2loopback
#pragma once

#include "image/image.h"

#include <stdbool.h>
#include <stdint.h>

struct camera_output;

struct camera_output_counts {
    uint64_t sent;     // frames sent
    uint64_t skipped;  // frames of `sent` that a newer one replaced before the thread wrote them
    uint64_t repeated; // how often the last frame was written again because the next one was late
};

// `node` is a path, or the number of /dev/videoN. The frames have the size width x height, rounded down to even
// numbers. `rate` is in frames per second; 0: unknown. Starts a thread that writes the frames, so that the caller never
// waits for the device. Returns NULL on failure (logged, with advice). Call all functions on one thread.
struct camera_output *camera_output_open(const char *node, int width, int height, double rate);
void camera_output_close(struct camera_output *output); // accepts NULL

const char *camera_output_name(const struct camera_output *output); // "/dev/video10 (its name)"
// The shape of the frames: nv12, yuyv or yu12 with even sides (docs/pixels.md section 6).
const struct image_shape *camera_output_shape(const struct camera_output *output);

// The caller fills the image that camera_output_picture returns; camera_output_send hands it to the thread, which
// writes it at once. If the next frame is more than half a period late, the thread repeats the last one, and again
// after each period, so that readers never wait. Before the first frame it writes a black one. camera_output_send
// returns false if the device refuses frames (logged once).
struct image *camera_output_picture(struct camera_output *output);
bool camera_output_send(struct camera_output *output);
struct camera_output_counts camera_output_counts(const struct camera_output *output);
