// camera_mode.h: which of a camera's formats, sizes and rates to use, and what its colours mean
#pragma once

#include "source/camera_device.h"
#include "source/source.h"

struct camera_mode {
    uint32_t fourcc;    // the V4L2 code
    bool compressed;    // MJPEG
    enum pixfmt format; // where it is not compressed
    int width, height;
    struct v4l2_fract interval; // between frames; 0/0 when the camera doesn't say
};

// Looks up a V4L2 code; false if monocle does not support it.
bool camera_mode_known(uint32_t fourcc, struct camera_mode *mode);
// Of its pictures, colour left out; of compressed ones the size alone.
struct image_shape camera_mode_shape(const struct camera_mode *mode);
// The most pixels that a compressed picture may have: the mode's size in whole JPEG blocks, since 1080 rows take 1088.
uint64_t camera_mode_most_pixels(const struct camera_mode *mode);
const char *camera_mode_name(const struct camera_mode *mode); // of the format: "nv12", "mjpeg"

// The mode nearest to what is wanted: size first, then rate, then format, the cheapest first. The others that were
// nearly as good are logged as information. False when the camera offers no format of ours, or not the one wanted.
bool camera_mode_choose(const struct camera_device *device, const struct source_setup *setup, struct camera_mode *mode);
// The formats of ours that the camera offers, as "nv12 yuyv"; "" for none.
void camera_mode_list(const struct camera_device *device, char text[128]);

double camera_mode_rate(struct v4l2_fract interval); // frames per second, 0 when unknown

// What a driver's format says of matrix and range; parts it doesn't say are filled by the kernel's default rules
// (V4L2_MAP_*_DEFAULT of linux/videodev2.h), and left unknown where not even the colour space is known. Compressed
// pictures are JPEG's full range and matrix 601 unless the driver says otherwise of these two.
struct color camera_mode_color(const struct v4l2_pix_format *format, bool compressed);

// Points an image into a driver's buffer: planes one behind the other, all padded in proportion to the first, as the
// kernel's documentation of the formats has it.
void camera_mode_lay_out(const struct v4l2_pix_format *format, const struct image_shape *shape, void *memory,
                         struct image *image);
// Bytes that a picture needs there; the padding behind its very last row may be missing.
size_t camera_mode_bytes(const struct v4l2_pix_format *format, const struct image_shape *shape);
