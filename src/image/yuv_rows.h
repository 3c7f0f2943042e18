// yuv_rows.h: rows of YUV to RGBA in a processor's own instructions; convert.c has their plain twins
#pragma once

#include "image/convert.h"

// How the samples of a row lie.
enum yuv_layout {
    YUV_GREY,       // none of U and V
    YUV_FULL,       // a sample of U and of V per pixel, in planes
    YUV_PLANAR,     // one per two pixels, in planes
    YUV_SEMIPLANAR, // one per two pixels, U and V in turns
    YUV_PACKED,     // one per two pixels, luma and chroma in turns
    YUV_LAYOUTS
};

enum yuv_layout yuv_layout_of(const struct pixfmt_info *info);

// A row's samples: where those of Y, U and V begin.
struct yuv_row {
    enum yuv_layout layout;
    const uint8_t *y, *u, *v;
};

// Defines make_any_row, which calls make_row with the row's layout as a constant, so that each layout is compiled
// apart. `target`: AVX2 or AVX512, what both are compiled for.
#define YUV_MAKE_ANY_ROW(target)                                                                                       \
    target static int make_any_row(const struct yuv_row *row, const struct color_coefficients *k, int width,           \
                                   uint8_t *rgba, enum convert_into into)                                              \
    {                                                                                                                  \
        switch (row->layout) {                                                                                         \
        case YUV_GREY:                                                                                                 \
            return make_row(row, k, YUV_GREY, width, rgba, into);                                                      \
        case YUV_FULL:                                                                                                 \
            return make_row(row, k, YUV_FULL, width, rgba, into);                                                      \
        case YUV_PLANAR:                                                                                               \
            return make_row(row, k, YUV_PLANAR, width, rgba, into);                                                    \
        case YUV_SEMIPLANAR:                                                                                           \
            return make_row(row, k, YUV_SEMIPLANAR, width, rgba, into);                                                \
        default:                                                                                                       \
            return make_row(row, k, YUV_PACKED, width, rgba, into);                                                    \
        }                                                                                                              \
    }

// Makes pixels from the left and returns how many, an even number or 0; the plain twin makes the rest.
int yuv_row_vector(const struct yuv_row *row, const struct color_coefficients *k, int width, uint8_t *rgba,
                   enum convert_into into);

// The same with AVX-512; 0 where the processor does not have it or the row does not suit it.
int yuv_row_avx512(const struct yuv_row *row, const struct color_coefficients *k, int width, uint8_t *rgba,
                   enum convert_into into);
