// yuv_rows.h: converts rows between YUV and RGBA
#pragma once

#include "base/vectors.h"
#include "image/color.h"

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
