// convert.h: converts images of any pixel format to RGBA and back: docs/pixels.md sections 1, 5 and 6
#pragma once

#include "base/vectors.h"
#include "image/image.h"

// ---- rows: yuv_rows.c ----

// The arrangement of a row's samples.
enum yuv_layout {
    YUV_GREY,       // luma alone
    YUV_FULL,       // planes; chroma for each pixel
    YUV_PLANAR,     // planes; chroma for two pixels
    YUV_SEMIPLANAR, // a plane of luma, a plane of chroma pairs; a pair for two pixels
    YUV_PACKED,     // luma and chroma alternate; chroma for two pixels
};

struct yuv_row {
    enum yuv_layout layout;
    const uint8_t *y, *u, *v; // the first samples; U and V are unused in YUV_GREY
};

// How an RGBA row is written.
enum row_use {
    ROW_CACHED,   // ordinary stores: the row is in the cache
    ROW_KEPT,     // ordinary stores, after a prefetch of the row
    ROW_STREAMED, // non-temporal stores if the row is aligned: it is not read soon
};

// Makes `width` RGBA pixels. `rgba` overlaps no sample.
typedef void yuv_row_function(const struct yuv_row *row, const struct color_coefficients *k, int width, uint8_t *rgba,
                              enum row_use use);
VECTORS_TABLE(yuv_row_function, yuv_row_to_rgba)

struct encoder {
    struct color_reverse reverse;
    int luma_offset;
};

// One row of pixels, or two rows that share their chroma, and the places of their samples.
struct encode_rows {
    enum yuv_layout layout;
    const uint8_t *rgba[2]; // rgba[1] is NULL if there is one row
    uint8_t *y[2], *u, *v;  // the first samples
};

// Makes the samples of `width` pixels.
typedef void encode_rows_function(const struct encoder *encoder, const struct encode_rows *rows, int width);
VECTORS_TABLE(encode_rows_function, encode_rows_to_yuv)

// ---- images ----

// Makes pixels x..x+width-1 of row `y` as RGBA; `x` is even. `coefficients` belong to the image's colour; unused for
// RGB formats.
void convert_row_to_rgba(const struct image *from, const struct color_coefficients *coefficients, int x, int y,
                         int width, uint8_t *rgba, enum row_use use);

// Whole images; `to` is RGBA and of the same size.
void convert_to_rgba(struct image *to, const struct image *from);

struct encoder encoder_init(struct color color); // resolved

// Makes pixels x..x+width-1 of row y from the RGBA row `upper`, and of row y+1 from `lower` (NULL: there is no such
// row). `x` and `y` are even; `width` may be odd only at the right edge.
void encode_rows(const struct encoder *encoder, struct image *to, int x, int y, int width, const uint8_t *upper,
                 const uint8_t *lower);

// Converts the top left of an RGBA image that is at least as large as `to`.
void encode_image(struct image *to, const struct image *rgba);
