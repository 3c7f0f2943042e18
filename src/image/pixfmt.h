// pixfmt.h: the table of pixel formats, docs/pixels.md section 1
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum pixfmt {
    PIXFMT_RGBA, // zero: filters work on it
    PIXFMT_RGB24,
    PIXFMT_BGR24,
    PIXFMT_GREY,
    PIXFMT_NV12,
    PIXFMT_NV21,
    PIXFMT_YU12,
    PIXFMT_YV12,
    PIXFMT_YUYV,
    PIXFMT_UYVY,
    PIXFMT_NV16,
    PIXFMT_NV61,
    PIXFMT_422P,
    PIXFMT_444P,
    PIXFMT_COUNT
};

enum { PIXFMT_PLANES = 3 };

struct pixfmt_plane {
    uint8_t bytes;   // bytes of one sample group
    uint8_t shift_x; // the group covers 1 << shift_x pixels across ...
    uint8_t shift_y; // ... and 1 << shift_y pixels down
};

// The samples of one channel: plane, first byte, bytes from sample to sample (0: no samples).
struct pixfmt_samples {
    uint8_t plane, first, step;
};

struct pixfmt_info {
    const char *name;  // "nv21"
    const char *alias; // "i420", "gray"; NULL: none
    // V4L2 codes for all planes in one buffer, and for a buffer per plane. 0: never requested from cameras.
    uint32_t fourcc, fourcc_apart;
    uint32_t spa; // PipeWire's number, of enum spa_video_format; 0: never requested
    int planes;   // 1..3, in the order of memory
    struct pixfmt_plane plane[PIXFMT_PLANES];
    bool yuv;                         // Y'CbCr or grey: matrix and range matter
    struct pixfmt_samples samples[3]; // of luma, U and V, or of red, green and blue
    bool even_width;                  // an odd width is refused
    const char *loader;               // kernel file, "load_semiplanar.cl"
};

const struct pixfmt_info *pixfmt_info(enum pixfmt format);
bool pixfmt_from_name(const char *name, enum pixfmt *format); // name or alias, any case

// Returns the bits per pixel of an image.
int pixfmt_bits(enum pixfmt format);
// Return the bytes of a row of `plane` without padding, and the number of its rows.
size_t pixfmt_row_bytes(enum pixfmt format, int plane, int width);
int pixfmt_rows(enum pixfmt format, int plane, int height);

// Returns true if the format allows this size: width and height 1 to IMAGE_MAX_SIDE, an even width if the format needs
// one, at most IMAGE_MAX_BYTES. On false, *why is a static text: "this pixel format needs an even width".
bool pixfmt_size_ok(enum pixfmt format, int width, int height, const char **why);
