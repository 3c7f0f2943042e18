// convert.c: rows of any pixel format to RGBA and back
#include "image/convert.h"

#include <string.h>

static inline uint8_t sat8(int value)
{
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

// docs/pixels.md section 1; every intermediate value fits 16 bits, so that vectors of 16-bit lanes can do it.
static inline void yuv_pixel(const struct color_coefficients *k, uint8_t luma, uint8_t u8, uint8_t v8, uint8_t *rgba)
{
    const int y = ((luma << 7) * k->cy >> 16) + k->bias;
    const int u = (u8 - 128) * 256, v = (v8 - 128) * 256;
    rgba[0] = sat8((y + (v * k->rv >> 16)) >> 5);
    rgba[1] = sat8((y - (u * k->gu >> 16) - (v * k->gv >> 16)) >> 5);
    rgba[2] = sat8((y + (u * k->bu >> 16)) >> 5);
    rgba[3] = 255;
}

// A row of pixels that share chroma two by two. Samples lie y_step and c_step bytes apart.
static inline void pairs_row(const struct color_coefficients *k, const uint8_t *y, int y_step, const uint8_t *u,
                             const uint8_t *v, int c_step, int width, uint8_t *rgba)
{
    for (int i = 0; i < width / 2; i++) {
        yuv_pixel(k, y[2 * i * y_step], u[i * c_step], v[i * c_step], rgba + 8 * i);
        yuv_pixel(k, y[(2 * i + 1) * y_step], u[i * c_step], v[i * c_step], rgba + 8 * i + 4);
    }
    if (width % 2 != 0) {
        const int i = width / 2;
        yuv_pixel(k, y[2 * i * y_step], u[i * c_step], v[i * c_step], rgba + 8 * i);
    }
}

// Where row `y` of a plane begins; the row above counts twice in vertically subsampled planes.
static const uint8_t *plane_row(const struct image *from, int plane, int y)
{
    const int row = y >> pixfmt_info(from->shape.format)->plane[plane].shift_y;
    return from->plane[plane] + (size_t)row * from->stride[plane];
}

static void rgba_row(const struct image *from, const struct color_coefficients *k, int y, uint8_t *rgba)
{
    memcpy(rgba, plane_row(from, 0, y), (size_t)from->shape.width * 4);
}

static void rgb24_row(const struct image *from, const struct color_coefficients *k, int y, uint8_t *rgba)
{
    const uint8_t *p = plane_row(from, 0, y);
    const int red = from->shape.format == PIXFMT_RGB24 ? 0 : 2;
    for (int x = 0; x < from->shape.width; x++) {
        rgba[4 * x] = p[3 * x + red];
        rgba[4 * x + 1] = p[3 * x + 1];
        rgba[4 * x + 2] = p[3 * x + 2 - red];
        rgba[4 * x + 3] = 255;
    }
}

static void grey_row(const struct image *from, const struct color_coefficients *k, int y, uint8_t *rgba)
{
    const uint8_t *p = plane_row(from, 0, y);
    for (int x = 0; x < from->shape.width; x++)
        yuv_pixel(k, p[x], 128, 128, rgba + 4 * x);
}

static void semiplanar_row(const struct image *from, const struct color_coefficients *k, int y, uint8_t *rgba)
{
    const uint8_t *uv = plane_row(from, 1, y);
    const int u = from->shape.format == PIXFMT_NV12 ? 0 : 1;
    pairs_row(k, plane_row(from, 0, y), 1, uv + u, uv + 1 - u, 2, from->shape.width, rgba);
}

static void packed422_row(const struct image *from, const struct color_coefficients *k, int y, uint8_t *rgba)
{
    const uint8_t *p = plane_row(from, 0, y);
    const int luma = from->shape.format == PIXFMT_YUYV ? 0 : 1, u = 1 - luma;
    pairs_row(k, p + luma, 2, p + u, p + u + 2, 4, from->shape.width, rgba);
}

static void planar_row(const struct image *from, const struct color_coefficients *k, int y, uint8_t *rgba)
{
    const int u = from->shape.format == PIXFMT_YV12 ? 2 : 1;
    pairs_row(k, plane_row(from, 0, y), 1, plane_row(from, u, y), plane_row(from, 3 - u, y), 1, from->shape.width,
              rgba);
}

static void planar444_row(const struct image *from, const struct color_coefficients *k, int y, uint8_t *rgba)
{
    const uint8_t *luma = plane_row(from, 0, y), *u = plane_row(from, 1, y), *v = plane_row(from, 2, y);
    for (int x = 0; x < from->shape.width; x++)
        yuv_pixel(k, luma[x], u[x], v[x], rgba + 4 * x);
}

static void (*const row_to_rgba[PIXFMT_COUNT])(const struct image *from, const struct color_coefficients *k, int y,
                                               uint8_t *rgba) = {
    [PIXFMT_RGBA] = rgba_row,      [PIXFMT_RGB24] = rgb24_row,     [PIXFMT_BGR24] = rgb24_row,
    [PIXFMT_GREY] = grey_row,      [PIXFMT_NV12] = semiplanar_row, [PIXFMT_NV21] = semiplanar_row,
    [PIXFMT_YU12] = planar_row,    [PIXFMT_YV12] = planar_row,     [PIXFMT_YUYV] = packed422_row,
    [PIXFMT_UYVY] = packed422_row, [PIXFMT_422P] = planar_row,     [PIXFMT_444P] = planar444_row,
};

void convert_row_to_rgba(const struct image *from, const struct color_coefficients *coefficients, int y, uint8_t *rgba)
{
    row_to_rgba[from->shape.format](from, coefficients, y, rgba);
}

void convert_row_to_444p(const uint8_t *rgba, int width, const struct color_reverse *k, uint8_t *y, uint8_t *u,
                         uint8_t *v)
{
    enum { HALF = 1 << 15 };
    for (int x = 0; x < width; x++) {
        const int r = rgba[4 * x], g = rgba[4 * x + 1], b = rgba[4 * x + 2];
        y[x] = (uint8_t)(16 + ((k->yr * r + k->yg * g + k->yb * b + HALF) >> 16));
        u[x] = (uint8_t)(128 + ((k->ur * r + k->ug * g + k->ub * b + HALF) >> 16));
        v[x] = (uint8_t)(128 + ((k->vr * r + k->vg * g + k->vb * b + HALF) >> 16));
    }
}

void convert_to_rgba(struct image *to, const struct image *from)
{
    const struct color_coefficients coefficients = color_to_rgb(from->shape.color);
    for (int y = 0; y < from->shape.height; y++)
        convert_row_to_rgba(from, &coefficients, y, to->plane[0] + (size_t)y * to->stride[0]);
}
