// color.h: matrix and range of YUV, and the integers that convert it (docs/pixels.md)
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum color_matrix { COLOR_MATRIX_DEFAULT, COLOR_MATRIX_601, COLOR_MATRIX_709, COLOR_MATRIX_2020 };
enum color_range { COLOR_RANGE_DEFAULT, COLOR_RANGE_LIMITED, COLOR_RANGE_FULL };

struct color {
    enum color_matrix matrix; // 0: unknown
    enum color_range range;   // 0: unknown
};

// YUV to RGB, docs/pixels.md section 1; every value fits 16 bits.
struct color_coefficients {
    int32_t cy, bias, rv, gu, gv, bu;
};

// RGB to YUV, docs/pixels.md section 5; every value fits 16 bits.
struct color_reverse {
    int32_t yr, yg, yb, ur, ug, ub, vr, vg, vb;
};

// Returns the user's `override`; for its unknown parts the source's `color`; for parts unknown in both the default.
struct color color_resolve(struct color color, struct color override, bool grey, int width, int height);

// `color` must be resolved.
struct color_coefficients color_to_rgb(struct color color);
struct color_reverse color_to_yuv(struct color color);

const char *color_matrix_name(enum color_matrix matrix); // "601"; "auto" for the default
const char *color_range_name(enum color_range range);    // "limited"
