// convert.c: rows of any pixel format to RGBA
#include "image/convert.h"

#include "base/clones.h"

#include <string.h>

static inline uint32_t sat8(int value)
{
    return (uint32_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

// docs/pixels.md section 1; every intermediate value fits 16 bits, and a product's upper half is one instruction.
static inline uint32_t yuv_pixel(struct color_coefficients k, int luma, int u8, int v8)
{
    const int y = ((luma << 7) * k.cy >> 16) + k.bias;
    const int u = (u8 - 128) * 256, v = (v8 - 128) * 256;
    const uint32_t r = sat8((y + (v * k.rv >> 16)) >> 5);
    const uint32_t g = sat8((y - (u * k.gu >> 16) - (v * k.gv >> 16)) >> 5);
    const uint32_t b = sat8((y + (u * k.bu >> 16)) >> 5);
    return r | g << 8 | b << 16 | 0xff000000u;
}

// A row of pixels that share chroma two by two. Samples lie y_step and c_step bytes apart; constants where inlined.
static inline void pairs_row(struct color_coefficients k, const uint8_t *restrict y, int y_step,
                             const uint8_t *restrict u, const uint8_t *restrict v, int c_step, int width,
                             pixel_word *restrict rgba)
{
    for (int i = 0; i < width / 2; i++) {
        rgba[2 * i] = yuv_pixel(k, y[2 * i * y_step], u[i * c_step], v[i * c_step]);
        rgba[2 * i + 1] = yuv_pixel(k, y[(2 * i + 1) * y_step], u[i * c_step], v[i * c_step]);
    }
    if (width % 2 != 0) {
        const int i = width / 2;
        rgba[2 * i] = yuv_pixel(k, y[2 * i * y_step], u[i * c_step], v[i * c_step]);
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

VECTOR_CLONES static void full_pixels(struct color_coefficients k, const uint8_t *restrict y, const uint8_t *restrict u,
                                      const uint8_t *restrict v, int width, pixel_word *restrict rgba)
{
    for (int x = 0; x < width; x++)
        rgba[x] = yuv_pixel(k, y[x], u[x], v[x]);
}

VECTOR_CLONES static void grey_pixels(struct color_coefficients k, const uint8_t *restrict y, int width,
                                      pixel_word *restrict rgba)
{
    for (int x = 0; x < width; x++)
        rgba[x] = yuv_pixel(k, y[x], 128, 128);
}

VECTOR_CLONES static void semiplanar_pixels(struct color_coefficients k, const uint8_t *y, const uint8_t *u,
                                            const uint8_t *v, int width, pixel_word *rgba)
{
    pairs_row(k, y, 1, u, v, 2, width, rgba);
}

VECTOR_CLONES static void packed_pixels(struct color_coefficients k, const uint8_t *y, const uint8_t *u,
                                        const uint8_t *v, int width, pixel_word *rgba)
{
    pairs_row(k, y, 2, u, v, 4, width, rgba);
}

VECTOR_CLONES static void planar_pixels(struct color_coefficients k, const uint8_t *y, const uint8_t *u,
                                        const uint8_t *v, int width, pixel_word *rgba)
{
    pairs_row(k, y, 1, u, v, 1, width, rgba);
}

static void grey_row(const struct image *from, const struct color_coefficients *k, int y, uint8_t *rgba)
{
    grey_pixels(*k, plane_row(from, 0, y), from->shape.width, (pixel_word *)rgba);
}

static void semiplanar_row(const struct image *from, const struct color_coefficients *k, int y, uint8_t *rgba)
{
    const uint8_t *uv = plane_row(from, 1, y);
    const int u = from->shape.format == PIXFMT_NV12 ? 0 : 1;
    semiplanar_pixels(*k, plane_row(from, 0, y), uv + u, uv + 1 - u, from->shape.width, (pixel_word *)rgba);
}

static void packed422_row(const struct image *from, const struct color_coefficients *k, int y, uint8_t *rgba)
{
    const uint8_t *p = plane_row(from, 0, y);
    const int luma = from->shape.format == PIXFMT_YUYV ? 0 : 1, u = 1 - luma;
    packed_pixels(*k, p + luma, p + u, p + u + 2, from->shape.width, (pixel_word *)rgba);
}

static void planar_row(const struct image *from, const struct color_coefficients *k, int y, uint8_t *rgba)
{
    const int u = from->shape.format == PIXFMT_YV12 ? 2 : 1;
    planar_pixels(*k, plane_row(from, 0, y), plane_row(from, u, y), plane_row(from, 3 - u, y), from->shape.width,
                  (pixel_word *)rgba);
}

static void planar444_row(const struct image *from, const struct color_coefficients *k, int y, uint8_t *rgba)
{
    full_pixels(*k, plane_row(from, 0, y), plane_row(from, 1, y), plane_row(from, 2, y), from->shape.width,
                (pixel_word *)rgba);
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

void convert_to_rgba(struct image *to, const struct image *from)
{
    const struct color_coefficients coefficients = color_to_rgb(from->shape.color);
    for (int y = 0; y < from->shape.height; y++)
        convert_row_to_rgba(from, &coefficients, y, to->plane[0] + (size_t)y * to->stride[0]);
}
