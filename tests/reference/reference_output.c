// reference_output.c: docs/pixels.md section 6: RGBA to the YUV of virtual cameras and image files
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

// `first` and `second` select the chroma sample (U 1, V 2); 0: none.
static uint8_t *add_chroma(uint8_t *at, const struct picture *picture, const struct image_shape *shape, int across,
                           int down, int first, int second)
{
    for (int y = 0; y < shape->height; y += down)
        for (int x = 0; x < shape->width; x += across) {
            *at++ = block_mean(picture, shape, x, y, across, down, first);
            if (second)
                *at++ = block_mean(picture, shape, x, y, across, down, second);
        }
    return at;
}

static void add_pairs(uint8_t *at, const struct picture *picture, const struct image_shape *shape)
{
    const int luma_at = shape->format == PIXFMT_UYVY, chroma_at = 1 - luma_at;
    for (int y = 0; y < shape->height; y++)
        for (int x = 0; x < shape->width; x += 2, at += 4) {
            at[luma_at] = luma(picture, shape, x, y);
            at[luma_at + 2] = luma(picture, shape, x + 1, y);
            at[chroma_at] = block_mean(picture, shape, x, y, 2, 1, 1);
            at[chroma_at + 2] = block_mean(picture, shape, x, y, 2, 1, 2);
        }
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
    if (shape->format == PIXFMT_YUYV || shape->format == PIXFMT_UYVY) {
        add_pairs(at, picture, shape);
        return total;
    }
    for (int y = 0; y < shape->height; y++)
        for (int x = 0; x < shape->width; x++)
            *at++ = luma(picture, shape, x, y);
    if (shape->format == PIXFMT_GREY)
        return total;
    const bool v_first = shape->format == PIXFMT_NV21 || shape->format == PIXFMT_NV61 || shape->format == PIXFMT_YV12;
    const int first = v_first ? 2 : 1, second = 3 - first;
    if (shape->format == PIXFMT_NV12 || shape->format == PIXFMT_NV21) {
        add_chroma(at, picture, shape, 2, 2, first, second);
        return total;
    }
    if (shape->format == PIXFMT_NV16 || shape->format == PIXFMT_NV61) {
        add_chroma(at, picture, shape, 2, 1, first, second);
        return total;
    }
    const int across = shape->format == PIXFMT_444P ? 1 : 2;
    const int down = shape->format == PIXFMT_YU12 || shape->format == PIXFMT_YV12 ? 2 : 1;
    at = add_chroma(at, picture, shape, across, down, first, 0);
    add_chroma(at, picture, shape, across, down, second, 0);
    return total;
}

void reference_counts(const struct picture *picture, uint32_t counts[3][256])
{
    for (int i = 0; i < picture->width * picture->height; i++)
        for (int channel = 0; channel < 3; channel++)
            counts[channel][picture->rgba[4 * (size_t)i + (size_t)channel]]++;
}

uint32_t reference_column(const struct picture *picture, int x, int strip, int strips)
{
    uint32_t sum = 0;
    for (int y = picture->height * strip / strips; y < picture->height * (strip + 1) / strips; y++)
        sum += picture_pixel(picture, x, y)[1];
    return sum;
}

uint32_t reference_row(const struct picture *picture, int y)
{
    uint32_t sum = 0;
    for (int x = 0; x < picture->width; x++)
        sum += picture_pixel(picture, x, y)[1];
    return sum;
}
