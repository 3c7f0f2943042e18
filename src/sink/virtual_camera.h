// virtual_camera.h: sends frames to virtual cameras: V4L2 output devices such as v4l2loopback, and PipeWire nodes
#pragma once

#include "base/options.h"
#include "image/image.h"

#include <stdbool.h>
#include <stdint.h>

struct virtual_camera;

// Sums of all nodes
struct virtual_camera_state {
    uint64_t sent;     // frames sent, to all nodes
    uint64_t skipped;  // frames of `sent` that a newer one replaced before a thread wrote them
    uint64_t repeated; // how often the last frame was written again because the next one was late
    int watched;       // 1: a program reads a node; 0: none does; -1: a device does not report this
    // A program has begun to read a node that has not copied the last frame, because no program read it: the caller
    // sends that frame again.
    bool lacks;
    bool failed; // a node has refused frames, and is closed; the others go on
};

// A node is a path, the number of /dev/videoN, or pipewire[:NAME]. All nodes get the same frames, of the size
// width x height, rounded down to even numbers; at first a black one. `rate` is in frames per second; 0: unknown.
// Starts a thread for each node, so that the caller never waits for a device. Returns NULL on failure (logged, with
// advice). Call all functions on one thread.
struct virtual_camera *virtual_camera_open(const struct option_texts *nodes, int width, int height, double rate);
void virtual_camera_close(struct virtual_camera *camera); // accepts NULL

const char *virtual_camera_name(const struct virtual_camera *camera); // "/dev/video10 (its name), pipewire (monocle)"
// The shape of the frames: nv12, yuyv or yu12 with even sides (docs/pixels.md section 6).
const struct image_shape *virtual_camera_shape(const struct virtual_camera *camera);

bool virtual_camera_reports(const struct virtual_camera *camera); // false: `watched` is unknown (logged)
void virtual_camera_blank(struct virtual_camera *camera);         // sends a black frame

// Copies a frame of virtual_camera_shape for the threads, which send it at once. If the next frame is more than half a
// period late, a thread repeats the last one, and again after each period, so that readers never wait. Returns false if
// the last node refuses frames (logged once).
bool virtual_camera_send(struct virtual_camera *camera, const struct image *frame);
struct virtual_camera_state virtual_camera_state(const struct virtual_camera *camera); // never waits
