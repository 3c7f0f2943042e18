// encode_rows.h: rows of RGBA to YUV in a processor's own instructions; encode.c has their plain twin
#pragma once

#include "image/encode.h"
#include "image/yuv_rows.h"

// A row of pixels, or two that share their chroma, and where their samples go.
struct encode_rows {
    enum yuv_layout layout;
    const uint8_t *rgba[2]; // the second one is NULL where there is only one row
    uint8_t *y[2], *u, *v;  // where samples of Y, U and V begin
};

// Make samples from the left and return of how many pixels, an even number or 0; the plain twin makes the rest.
int encode_rows_avx2(const struct encoder *encoder, const struct encode_rows *rows, int width);
int encode_rows_avx512(const struct encoder *encoder, const struct encode_rows *rows, int width);

static inline int encode_rows_vector(const struct encoder *encoder, const struct encode_rows *rows, int width)
{
    const int done = encode_rows_avx512(encoder, rows, width);
    return done > 0 ? done : encode_rows_avx2(encoder, rows, width);
}
