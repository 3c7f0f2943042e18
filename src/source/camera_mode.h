// camera_mode.h: selects a camera's format, size and rate; on any thread
#pragma once

#include "source/camera_device.h"
#include "source/cameras.h"
#include "source/source.h"

struct camera_mode {
    uint32_t fourcc;    // the V4L2 code
    bool compressed;    // MJPEG or JPEG
    enum pixfmt format; // of the frames if they are not compressed
    int width, height;
    struct v4l2_fract interval; // time between frames, in seconds; 0/0 if the driver does not report it
};

// Looks up a V4L2 code; false if monocle does not support it.
bool camera_mode_known(uint32_t fourcc, struct camera_mode *mode);
// The shape of the mode's frames, without colour. Compressed frames may have another one: the decoder then sees it.
struct image_shape camera_mode_shape(const struct camera_mode *mode);
// The limit for the pixels of a compressed frame: the mode's size rounded up to JPEG blocks of 16, such as 1088 rows
// for 1080.
uint64_t camera_mode_most_pixels(const struct camera_mode *mode);
const char *camera_mode_name(const struct camera_mode *mode); // name of the format: "nv12", "mjpeg"

// Chooses the mode nearest to the setup: first by size, then by rate, then by format, uncompressed formats first. Logs
// the best mode of each format. Returns false if the camera offers no supported format, or not the setup's; `why` then
// has the message.
bool camera_mode_choose(const struct camera_device *device, const struct source_setup *setup, struct camera_mode *mode,
                        char why[CAMERA_WHY]);
// Returns true if `a` fits the setup better than `b`.
bool camera_mode_better(const struct source_setup *setup, const struct camera_mode *a, const struct camera_mode *b);
// Lists the supported formats that the camera offers, as "nv12 yuyv"; "" if there is none.
void camera_mode_list(const struct camera_device *device, char text[128]);
// Writes a V4L2 code as text, "YUYV", without control characters.
void camera_mode_code(uint32_t fourcc, char text[8]);
// Sets the members of the node that depend on the formats of an open camera. libv4l2 may convert its frames afterwards.
void camera_mode_describe(struct camera_device *device, struct camera_node *node);

double camera_mode_rate(struct v4l2_fract interval); // frames per second; 0: unknown
