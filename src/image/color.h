// color.h: how YUV becomes RGB: matrix, range, and the integers of docs/pixels.md section 1
#pragma once

#include <stdbool.h>
#include <stdint.h>

enum color_matrix { COLOR_MATRIX_DEFAULT, COLOR_MATRIX_601, COLOR_MATRIX_709, COLOR_MATRIX_2020 };
enum color_range { COLOR_RANGE_DEFAULT, COLOR_RANGE_LIMITED, COLOR_RANGE_FULL };

struct color {
    enum color_matrix matrix; // zero: not known
    enum color_range range;   // zero: not known
};

// docs/pixels.md section 1; every value fits 16 bits.
struct color_coefficients {
    int32_t cy, bias, rv, gu, gv, bu;
};

// docs/pixels.md section 5; every value fits 16 bits.
struct color_reverse {
    int32_t yr, yg, yb, ur, ug, ub, vr, vg, vb;
};

// Fills what is not known: `override` (the user's word) first, then `color` (the source's), then the default rule.
struct color color_resolve(struct color color, struct color override, bool grey, int width, int height);

// `color` must be resolved.
struct color_coefficients color_to_rgb(struct color color);
struct color_reverse color_to_yuv(struct color color);

const char *color_matrix_name(enum color_matrix matrix); // "601"; "auto" for the default
const char *color_range_name(enum color_range range);    // "limited"
