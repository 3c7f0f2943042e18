// virtual_camera.h: writes frames to a virtual camera: a V4L2 output device such as v4l2loopback, or a PipeWire node
#pragma once

#include "image/image.h"

#include <stdbool.h>
#include <stdint.h>

struct virtual_camera;

struct virtual_camera_counts {
    uint64_t sent;     // frames sent
    uint64_t skipped;  // frames of `sent` that a newer one replaced before the thread wrote them
    uint64_t repeated; // how often the last frame was written again because the next one was late
};

// `node` is a path, the number of /dev/videoN, or pipewire[:NAME]. The frames have the size width x height, rounded
// down to even numbers. `rate` is in frames per second; 0: unknown. Starts a thread that writes the frames, so that the
// caller never waits for the device. Returns NULL on failure (logged, with advice). Call all functions on one thread.
struct virtual_camera *virtual_camera_open(const char *node, int width, int height, double rate);
void virtual_camera_close(struct virtual_camera *camera); // accepts NULL

const char *virtual_camera_name(const struct virtual_camera *camera); // "/dev/video10 (its name)"
// The shape of the frames: nv12, yuyv or yu12 with even sides (docs/pixels.md section 6).
const struct image_shape *virtual_camera_shape(const struct virtual_camera *camera);

bool virtual_camera_reports(const struct virtual_camera *camera); // false: virtual_camera_watched is unknown (logged)
// Returns 1 if a program reads the device, 0: none does; -1: the device does not report this. Never waits.
int virtual_camera_watched(struct virtual_camera *camera);
void virtual_camera_blank(struct virtual_camera *camera); // sends a black frame

// Copies a frame of virtual_camera_shape for the thread, which writes it at once. If the next frame is more than half a
// period late, the thread repeats the last one, and again after each period, so that readers never wait. Before the
// first frame it writes a black one. Returns false if the device refuses frames (logged once).
bool virtual_camera_send(struct virtual_camera *camera, const struct image *frame);
struct virtual_camera_counts virtual_camera_counts(const struct virtual_camera *camera);
