// encode_rows.h: converts rows of RGBA to YUV
#pragma once

#include "base/vectors.h"
#include "image/encode.h"
#include "image/yuv_rows.h"

// One row of pixels, or two rows that share their chroma, and the places of their samples.
struct encode_rows {
    enum yuv_layout layout;
    const uint8_t *rgba[2]; // rgba[1] is NULL if there is one row
    uint8_t *y[2], *u, *v;  // the first samples
};

// Makes the samples of `width` pixels.
typedef void encode_rows_function(const struct encoder *encoder, const struct encode_rows *rows, int width);
VECTORS_TABLE(encode_rows_function, encode_rows_to_yuv)
