// reference_output.c: docs/pixels.md section 6: RGBA to the YUV of virtual cameras and picture files
#include "reference.h"

#include <stdlib.h>

// The chroma sample (U 1, V 2) of the block that begins at (x, y). The last column and row count twice.
static uint8_t block_mean(const struct picture *picture, const struct image_shape *shape, int x, int y, int across,
                          int down, int which)
{
    int sum = 0;
    for (int dy = 0; dy < down; dy++)
        for (int dx = 0; dx < across; dx++) {
            uint8_t yuv[3];
            int from_x = x + dx < shape->width ? x + dx : shape->width - 1;
            int from_y = y + dy < shape->height ? y + dy : shape->height - 1;
            reference_pixel_yuv(picture_pixel(picture, from_x, from_y), shape->color, yuv);
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
    uint8_t yuv[3];
    reference_pixel_yuv(picture_pixel(picture, x, y), shape->color, yuv);
    return yuv[0];
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
