// reference_output.c: docs/pixels.md section 6: RGBA to the YUV of virtual cameras and picture files
#include "reference.h"

#include <stdlib.h>

// Y, U and V of one pixel.
static void pixel_yuv(const struct picture *picture, struct color color, int x, int y, int yuv[3])
{
    struct color_reverse k = reference_to_yuv(color);
    const uint8_t *p = picture_pixel(picture, x, y);
    int64_t r = p[0], g = p[1], b = p[2];
    yuv[0] = (int)reference_shift(k.yr * r + k.yg * g + k.yb * b + 32768, 16);
    yuv[1] = reference_sat8(128 + reference_shift(k.ur * r + k.ug * g + k.ub * b + 32768, 16));
    yuv[2] = reference_sat8(128 + reference_shift(k.vr * r + k.vg * g + k.vb * b + 32768, 16));
    if (color.range == COLOR_RANGE_LIMITED)
        yuv[0] += 16;
}

// The chroma sample (U 1, V 2) of the block that begins at (x, y). The last column and row count twice.
static uint8_t block_mean(const struct picture *picture, const struct image_shape *shape, int x, int y, int across,
                          int down, int which)
{
    int sum = 0;
    for (int dy = 0; dy < down; dy++)
        for (int dx = 0; dx < across; dx++) {
            int yuv[3];
            pixel_yuv(picture, shape->color, x + dx < shape->width ? x + dx : shape->width - 1,
                      y + dy < shape->height ? y + dy : shape->height - 1, yuv);
            sum += yuv[which];
        }
    switch (across * down) {
    case 4:
        return (uint8_t)reference_shift(sum + 2, 2);
    case 2:
        return (uint8_t)reference_shift(sum + 1, 1);
    default:
        return (uint8_t)sum;
    }
}

static uint8_t luma(const struct picture *picture, const struct image_shape *shape, int x, int y)
{
    int yuv[3];
    pixel_yuv(picture, shape->color, x, y, yuv);
    return (uint8_t)yuv[0];
}

static uint8_t *add_chroma(uint8_t *at, const struct picture *picture, const struct image_shape *shape, int across,
                           int down, bool u, bool v)
{
    for (int y = 0; y < shape->height; y += down)
        for (int x = 0; x < shape->width; x += across) {
            if (u)
                *at++ = block_mean(picture, shape, x, y, across, down, 1);
            if (v)
                *at++ = block_mean(picture, shape, x, y, across, down, 2);
        }
    return at;
}

static uint8_t *add_pairs(uint8_t *at, const struct picture *picture, const struct image_shape *shape)
{
    for (int y = 0; y < shape->height; y++)
        for (int x = 0; x < shape->width; x += 2) {
            *at++ = luma(picture, shape, x, y);
            *at++ = block_mean(picture, shape, x, y, 2, 1, 1);
            *at++ = luma(picture, shape, x + 1, y);
            *at++ = block_mean(picture, shape, x, y, 2, 1, 2);
        }
    return at;
}

size_t reference_output(const struct picture *picture, const struct image_shape *shape, uint8_t *bytes)
{
    struct reference_plane plane[PIXFMT_PLANES];
    size_t total = 0;
    reference_planes(shape->format, shape->width, shape->height, plane);
    for (int i = 0; i < PIXFMT_PLANES; i++)
        total += (size_t)plane[i].row_bytes * (size_t)plane[i].rows;
    if (!bytes)
        return total;
    uint8_t *at = bytes;
    if (shape->format == PIXFMT_YUYV) {
        add_pairs(at, picture, shape);
        return total;
    }
    for (int y = 0; y < shape->height; y++)
        for (int x = 0; x < shape->width; x++)
            *at++ = luma(picture, shape, x, y);
    if (shape->format == PIXFMT_GREY)
        return total;
    if (shape->format == PIXFMT_NV12) {
        add_chroma(at, picture, shape, 2, 2, true, true);
        return total;
    }
    int across = shape->format == PIXFMT_444P ? 1 : 2, down = shape->format == PIXFMT_YU12 ? 2 : 1;
    at = add_chroma(at, picture, shape, across, down, true, false);
    add_chroma(at, picture, shape, across, down, false, true);
    return total;
}
