// reference.c: docs/pixels.md sections 1 and 5: frames to RGBA, and RGBA to YUV
#include "reference.h"

#include <assert.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct picture picture_new(int width, int height)
{
    struct picture picture = {width, height, malloc((size_t)width * (size_t)height * 4)};
    if (!picture.rgba)
        abort();
    return picture;
}

struct picture picture_copy(const struct picture *from)
{
    struct picture to = picture_new(from->width, from->height);
    memcpy(to.rgba, from->rgba, (size_t)to.width * (size_t)to.height * 4);
    return to;
}

void picture_free(struct picture *picture)
{
    free(picture->rgba);
    *picture = (struct picture){0};
}

static uint8_t *picture_place(struct picture *picture, int x, int y)
{
    return picture->rgba + ((size_t)y * (size_t)picture->width + (size_t)x) * 4;
}

const char *reference_format_name(enum pixfmt format)
{
    static const char *const names[PIXFMT_COUNT] = {
        [PIXFMT_RGBA] = "rgba", [PIXFMT_RGB24] = "rgb24", [PIXFMT_BGR24] = "bgr24", [PIXFMT_GREY] = "grey",
        [PIXFMT_NV12] = "nv12", [PIXFMT_NV21] = "nv21",   [PIXFMT_YU12] = "yu12",   [PIXFMT_YV12] = "yv12",
        [PIXFMT_YUYV] = "yuyv", [PIXFMT_UYVY] = "uyvy",   [PIXFMT_422P] = "422p",   [PIXFMT_444P] = "444p",
        [PIXFMT_NV16] = "nv16", [PIXFMT_NV61] = "nv61",
    };
    return names[format];
}

bool reference_size_ok(enum pixfmt format, int width, int height)
{
    if (width < 1 || height < 1 || width > IMAGE_MAX_SIDE || height > IMAGE_MAX_SIDE)
        return false;
    bool pairs = format == PIXFMT_YUYV || format == PIXFMT_UYVY;
    return !pairs || width % 2 == 0;
}

int reference_planes(enum pixfmt format, int width, int height, struct reference_plane plane[PIXFMT_PLANES])
{
    int half_width = (width + 1) / 2, half_height = (height + 1) / 2;
    struct reference_plane none = {0, 0};
    plane[0] = plane[1] = plane[2] = none;
    switch (format) {
    case PIXFMT_RGBA:
        plane[0] = (struct reference_plane){4 * width, height};
        return 1;
    case PIXFMT_RGB24:
    case PIXFMT_BGR24:
        plane[0] = (struct reference_plane){3 * width, height};
        return 1;
    case PIXFMT_GREY:
        plane[0] = (struct reference_plane){width, height};
        return 1;
    case PIXFMT_NV12:
    case PIXFMT_NV21:
        plane[0] = (struct reference_plane){width, height};
        plane[1] = (struct reference_plane){2 * half_width, half_height};
        return 2;
    case PIXFMT_NV16:
    case PIXFMT_NV61:
        plane[0] = (struct reference_plane){width, height};
        plane[1] = (struct reference_plane){2 * half_width, height};
        return 2;
    case PIXFMT_YU12:
    case PIXFMT_YV12:
        plane[0] = (struct reference_plane){width, height};
        plane[1] = plane[2] = (struct reference_plane){half_width, half_height};
        return 3;
    case PIXFMT_YUYV:
    case PIXFMT_UYVY:
        plane[0] = (struct reference_plane){2 * width, height};
        return 1;
    case PIXFMT_422P:
        plane[0] = (struct reference_plane){width, height};
        plane[1] = plane[2] = (struct reference_plane){half_width, height};
        return 3;
    case PIXFMT_444P:
        plane[0] = plane[1] = plane[2] = (struct reference_plane){width, height};
        return 3;
    case PIXFMT_COUNT:
        break;
    }
    abort();
}

// Luma weights of red and blue.
static void matrix_weights(enum color_matrix matrix, double *kr, double *kb)
{
    assert(matrix != COLOR_MATRIX_DEFAULT);
    *kr = matrix == COLOR_MATRIX_601 ? 0.299 : matrix == COLOR_MATRIX_709 ? 0.2126 : 0.2627;
    *kb = matrix == COLOR_MATRIX_601 ? 0.114 : matrix == COLOR_MATRIX_709 ? 0.0722 : 0.0593;
}

struct color reference_default_color(bool grey, int width, int height)
{
    bool large = width >= 1280 || height > 576;
    return (struct color){
        .matrix = large ? COLOR_MATRIX_709 : COLOR_MATRIX_601,
        .range = grey ? COLOR_RANGE_FULL : COLOR_RANGE_LIMITED,
    };
}

struct color_coefficients reference_to_rgb(struct color color)
{
    assert(color.range != COLOR_RANGE_DEFAULT);
    double kr, kb;
    matrix_weights(color.matrix, &kr, &kb);
    double kg = 1 - kr - kb;
    bool limited = color.range == COLOR_RANGE_LIMITED;
    double cy = limited ? 255.0 / 219.0 : 1, cc = limited ? 255.0 / 224.0 : 1, yo = limited ? 16 : 0;
    return (struct color_coefficients){
        .cy = (int32_t)reference_round(cy * 16384),
        .bias = (int32_t)(16 - reference_round(cy * yo * 32)),
        .rv = (int32_t)reference_round(2 * (1 - kr) * cc * 8192),
        .bu = (int32_t)reference_round(2 * (1 - kb) * cc * 8192),
        .gu = (int32_t)reference_round(2 * kb * (1 - kb) / kg * cc * 8192),
        .gv = (int32_t)reference_round(2 * kr * (1 - kr) / kg * cc * 8192),
    };
}

void reference_yuv_pixel(const struct color_coefficients *k, int luma, int cb, int cr, uint8_t rgba[4])
{
    int64_t y = reference_shift((int64_t)luma * 128 * k->cy, 16) + k->bias;
    int64_t u = (cb - 128) * 256, v = (cr - 128) * 256;
    rgba[0] = reference_sat8(reference_shift(y + reference_shift(v * k->rv, 16), 5));
    rgba[1] = reference_sat8(reference_shift(y - reference_shift(u * k->gu, 16) - reference_shift(v * k->gv, 16), 5));
    rgba[2] = reference_sat8(reference_shift(y + reference_shift(u * k->bu, 16), 5));
    rgba[3] = 255;
}

static int sample(const struct image *frame, int plane, int byte, int row)
{
    return frame->plane[plane][(size_t)row * frame->stride[plane] + (size_t)byte];
}

// The Y, U, V that belong to pixel (x, y) of a YUV frame.
static void frame_yuv(const struct image *f, int x, int y, int yuv[3])
{
    int half_x = x / 2, half_y = y / 2;
    switch (f->shape.format) {
    case PIXFMT_GREY:
        yuv[0] = sample(f, 0, x, y), yuv[1] = 128, yuv[2] = 128;
        break;
    case PIXFMT_NV12:
        yuv[0] = sample(f, 0, x, y), yuv[1] = sample(f, 1, 2 * half_x, half_y);
        yuv[2] = sample(f, 1, 2 * half_x + 1, half_y);
        break;
    case PIXFMT_NV21:
        yuv[0] = sample(f, 0, x, y), yuv[2] = sample(f, 1, 2 * half_x, half_y);
        yuv[1] = sample(f, 1, 2 * half_x + 1, half_y);
        break;
    case PIXFMT_NV16:
        yuv[0] = sample(f, 0, x, y), yuv[1] = sample(f, 1, 2 * half_x, y), yuv[2] = sample(f, 1, 2 * half_x + 1, y);
        break;
    case PIXFMT_NV61:
        yuv[0] = sample(f, 0, x, y), yuv[2] = sample(f, 1, 2 * half_x, y), yuv[1] = sample(f, 1, 2 * half_x + 1, y);
        break;
    case PIXFMT_YU12:
        yuv[0] = sample(f, 0, x, y), yuv[1] = sample(f, 1, half_x, half_y), yuv[2] = sample(f, 2, half_x, half_y);
        break;
    case PIXFMT_YV12:
        yuv[0] = sample(f, 0, x, y), yuv[2] = sample(f, 1, half_x, half_y), yuv[1] = sample(f, 2, half_x, half_y);
        break;
    case PIXFMT_YUYV:
        yuv[0] = sample(f, 0, 2 * x, y), yuv[1] = sample(f, 0, 4 * half_x + 1, y);
        yuv[2] = sample(f, 0, 4 * half_x + 3, y);
        break;
    case PIXFMT_UYVY:
        yuv[0] = sample(f, 0, 2 * x + 1, y), yuv[1] = sample(f, 0, 4 * half_x, y);
        yuv[2] = sample(f, 0, 4 * half_x + 2, y);
        break;
    case PIXFMT_422P:
        yuv[0] = sample(f, 0, x, y), yuv[1] = sample(f, 1, half_x, y), yuv[2] = sample(f, 2, half_x, y);
        break;
    case PIXFMT_444P:
        yuv[0] = sample(f, 0, x, y), yuv[1] = sample(f, 1, x, y), yuv[2] = sample(f, 2, x, y);
        break;
    default:
        abort();
    }
}

static void frame_pixel(const struct image *f, int x, int y, uint8_t rgba[4])
{
    rgba[3] = 255;
    switch (f->shape.format) {
    case PIXFMT_RGBA:
        for (int i = 0; i < 4; i++)
            rgba[i] = (uint8_t)sample(f, 0, 4 * x + i, y);
        return;
    case PIXFMT_RGB24:
        for (int i = 0; i < 3; i++)
            rgba[i] = (uint8_t)sample(f, 0, 3 * x + i, y);
        return;
    case PIXFMT_BGR24:
        for (int i = 0; i < 3; i++)
            rgba[i] = (uint8_t)sample(f, 0, 3 * x + 2 - i, y);
        return;
    default:
        break;
    }
    int yuv[3];
    frame_yuv(f, x, y, yuv);
    struct color_coefficients coefficients = reference_to_rgb(f->shape.color);
    reference_yuv_pixel(&coefficients, yuv[0], yuv[1], yuv[2], rgba);
}

struct picture reference_frame(const struct image *frame)
{
    struct picture picture = picture_new(frame->shape.width, frame->shape.height);
    for (int y = 0; y < picture.height; y++)
        for (int x = 0; x < picture.width; x++)
            frame_pixel(frame, x, y, picture_place(&picture, x, y));
    return picture;
}

struct color_reverse reference_to_yuv(struct color color)
{
    double kr, kb;
    matrix_weights(color.matrix, &kr, &kb);
    bool full = color.range == COLOR_RANGE_FULL;
    double s = full ? 32768 : 219.0 / 255.0 * 32768, t = full ? 32768 : 224.0 / 255.0 * 32768;
    struct color_reverse k = {
        .yr = (int32_t)reference_round(kr * s),
        .yb = (int32_t)reference_round(kb * s),
        .ub = (int32_t)reference_round(t / 2),
        .ur = (int32_t)reference_round(-kr / (1 - kb) * t / 2),
        .vr = (int32_t)reference_round(t / 2),
        .vb = (int32_t)reference_round(-kb / (1 - kr) * t / 2),
    };
    k.yg = (int32_t)reference_round(s) - k.yr - k.yb;
    k.ug = -k.ub - k.ur;
    k.vg = -k.vr - k.vb;
    return k;
}

static int64_t hi(int c, int32_t k)
{
    return reference_shift((int64_t)c * 128 * k, 16);
}

void reference_pixel_yuv(const uint8_t *rgba, struct color color, uint8_t yuv[3])
{
    struct color_reverse k = reference_to_yuv(color);
    int yo = color.range == COLOR_RANGE_FULL ? 0 : 16, r = rgba[0], g = rgba[1], b = rgba[2];
    int64_t y = reference_shift(hi(r, k.yr) + hi(g, k.yg) + hi(b, k.yb) + yo * 64 + 33, 6);
    int64_t u = reference_shift(hi(r, k.ur) + hi(g, k.ug) + hi(b, k.ub) + 128 * 64 + 33, 6);
    int64_t v = reference_shift(hi(r, k.vr) + hi(g, k.vg) + hi(b, k.vb) + 128 * 64 + 33, 6);
    yuv[0] = (uint8_t)y;
    yuv[1] = (uint8_t)(u < 255 ? u : 255);
    yuv[2] = (uint8_t)(v < 255 ? v : 255);
}

void reference_444p(const struct picture *picture, enum color_matrix matrix, uint8_t *y, uint8_t *u, uint8_t *v)
{
    size_t pixels = (size_t)picture->width * (size_t)picture->height;
    for (size_t i = 0; i < pixels; i++) {
        uint8_t yuv[3];
        reference_pixel_yuv(picture->rgba + 4 * i, (struct color){matrix, COLOR_RANGE_LIMITED}, yuv);
        y[i] = yuv[0];
        u[i] = yuv[1];
        v[i] = yuv[2];
    }
}
