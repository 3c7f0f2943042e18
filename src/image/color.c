// color.c: matrix and range of YUV, and the integers that convert it
#include "image/color.h"

#include <math.h>

// Luma weights: ITU-R BT.601-7 2.5.1, BT.709-6 3.2, BT.2020-2 table 4.
static const struct {
    const char *name;
    double kr, kb;
} matrices[] = {
    [COLOR_MATRIX_DEFAULT] = {"auto", 0.299, 0.114},
    [COLOR_MATRIX_601] = {"601", 0.299, 0.114},
    [COLOR_MATRIX_709] = {"709", 0.2126, 0.0722},
    [COLOR_MATRIX_2020] = {"2020", 0.2627, 0.0593},
};

static const char *const range_names[] = {
    [COLOR_RANGE_DEFAULT] = "auto",
    [COLOR_RANGE_LIMITED] = "limited",
    [COLOR_RANGE_FULL] = "full",
};

struct color color_resolve(struct color color, struct color override, bool grey, int width, int height)
{
    if (override.matrix != COLOR_MATRIX_DEFAULT)
        color.matrix = override.matrix;
    if (override.range != COLOR_RANGE_DEFAULT)
        color.range = override.range;
    if (color.matrix == COLOR_MATRIX_DEFAULT)
        color.matrix = width >= 1280 || height > 576 ? COLOR_MATRIX_709 : COLOR_MATRIX_601;
    if (color.range == COLOR_RANGE_DEFAULT)
        color.range = grey ? COLOR_RANGE_FULL : COLOR_RANGE_LIMITED;
    return color;
}

static int32_t round_int(double value)
{
    return (int32_t)floor(value + 0.5);
}

struct color_coefficients color_to_rgb(struct color color)
{
    const double kr = matrices[color.matrix].kr, kb = matrices[color.matrix].kb, kg = 1 - kr - kb;
    double luma = 1, chroma = 1, offset = 0;
    if (color.range != COLOR_RANGE_FULL) {
        luma = 255.0 / 219;
        chroma = 255.0 / 224;
        offset = 16;
    }
    return (struct color_coefficients){
        .cy = round_int(luma * 16384),
        .bias = 16 - round_int(luma * offset * 32),
        .rv = round_int(2 * (1 - kr) * chroma * 8192),
        .gu = round_int(2 * kb * (1 - kb) / kg * chroma * 8192),
        .gv = round_int(2 * kr * (1 - kr) / kg * chroma * 8192),
        .bu = round_int(2 * (1 - kb) * chroma * 8192),
    };
}

struct color_reverse color_to_yuv(struct color color)
{
    const double kr = matrices[color.matrix].kr, kb = matrices[color.matrix].kb;
    const bool full = color.range == COLOR_RANGE_FULL;
    const double luma = full ? 32768 : 219.0 / 255 * 32768;
    const double chroma = full ? 32768 : 224.0 / 255 * 32768;
    struct color_reverse c = {
        .yr = round_int(kr * luma),
        .yb = round_int(kb * luma),
        .ub = round_int(chroma / 2),
        .ur = round_int(-kr / (1 - kb) * chroma / 2),
        .vr = round_int(chroma / 2),
        .vb = round_int(-kb / (1 - kr) * chroma / 2),
    };
    c.yg = round_int(luma) - c.yr - c.yb;
    c.ug = -c.ub - c.ur;
    c.vg = -c.vr - c.vb;
    return c;
}

const char *color_matrix_name(enum color_matrix matrix)
{
    return matrices[matrix].name;
}

const char *color_range_name(enum color_range range)
{
    return range_names[range];
}
