// encode.c: RGBA into any pixel format
#include "image/encode.h"

#include "base/clones.h"

#include <string.h>

enum { CHUNK = 256 }; // pixels converted at a time; even

// Where samples of a YUV format lie: plane, first byte, bytes from sample to sample. Steps of 0: no such samples.
struct samples {
    uint8_t plane, first, step;
};
static const struct layout {
    struct samples y, u, v;
} layouts[PIXFMT_COUNT] = {
    [PIXFMT_GREY] = {.y = {0, 0, 1}},
    [PIXFMT_NV12] = {{0, 0, 1}, {1, 0, 2}, {1, 1, 2}},
    [PIXFMT_NV21] = {{0, 0, 1}, {1, 1, 2}, {1, 0, 2}},
    [PIXFMT_YU12] = {{0, 0, 1}, {1, 0, 1}, {2, 0, 1}},
    [PIXFMT_YV12] = {{0, 0, 1}, {2, 0, 1}, {1, 0, 1}},
    [PIXFMT_YUYV] = {{0, 0, 2}, {0, 1, 4}, {0, 3, 4}},
    [PIXFMT_UYVY] = {{0, 1, 2}, {0, 0, 4}, {0, 2, 4}},
    [PIXFMT_422P] = {{0, 0, 1}, {1, 0, 1}, {2, 0, 1}},
    [PIXFMT_444P] = {{0, 0, 1}, {1, 0, 1}, {2, 0, 1}},
};

struct encoder encoder_init(struct color color)
{
    return (struct encoder){.reverse = color_to_yuv(color), .luma_offset = color.range == COLOR_RANGE_FULL ? 0 : 16};
}

static inline uint8_t sat8(int value)
{
    return (uint8_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

// Rows of one chunk at full chroma. Full range needs the saturation: pure blue is 127.5 above the middle.
struct chunk {
    uint8_t y[2][CHUNK], u[2][CHUNK], v[2][CHUNK];
    int width, rows;
};

static inline int weigh(pixel_word pixel, int32_t red, int32_t green, int32_t blue)
{
    enum { HALF = 1 << 15 };
    const int r = pixel & 255, g = pixel >> 8 & 255, b = pixel >> 16 & 255;
    return (red * r + green * g + blue * b + HALF) >> 16;
}

VECTOR_CLONES static void luma_row(struct encoder encoder, const pixel_word *restrict rgba, int width,
                                   uint8_t *restrict y)
{
    const struct color_reverse k = encoder.reverse;
    for (int x = 0; x < width; x++)
        y[x] = (uint8_t)(encoder.luma_offset + weigh(rgba[x], k.yr, k.yg, k.yb));
}

VECTOR_CLONES static void chroma_row(struct encoder encoder, const pixel_word *restrict rgba, int width,
                                     uint8_t *restrict u, uint8_t *restrict v)
{
    const struct color_reverse k = encoder.reverse;
    for (int x = 0; x < width; x++) {
        u[x] = sat8(128 + weigh(rgba[x], k.ur, k.ug, k.ub));
        v[x] = sat8(128 + weigh(rgba[x], k.vr, k.vg, k.vb));
    }
}

// Means of pairs of pixels in two rows, which may be one and the same.
VECTOR_CLONES static void mean_row(const uint8_t *restrict upper, const uint8_t *restrict lower, int pairs,
                                   uint8_t *restrict to)
{
    for (int i = 0; i < pairs; i++)
        to[i] = (uint8_t)((upper[2 * i] + upper[2 * i + 1] + lower[2 * i] + lower[2 * i + 1] + 2) >> 2);
}

// The place of a sample in row `row` of its plane.
static uint8_t *sample_at(const struct image *to, const struct samples *where, int column, int row)
{
    return to->plane[where->plane] + (size_t)row * to->stride[where->plane] + where->first +
           (size_t)column * where->step;
}

static void put_samples(const uint8_t *restrict from, int count, uint8_t *restrict to, int step)
{
    if (step == 1)
        memcpy(to, from, (size_t)count);
    else
        for (int i = 0; i < count; i++)
            to[i * step] = from[i];
}

static void put_luma(const struct chunk *chunk, struct image *to, int x, int y)
{
    const struct samples *where = &layouts[to->shape.format].y;
    for (int row = 0; row < chunk->rows; row++)
        put_samples(chunk->y[row], chunk->width, sample_at(to, where, x, y + row), where->step);
}

// Each sample is the mean of the pixels it covers; at an odd edge the last pixel counts twice, which is the same mean.
static void put_chroma(const struct chunk *chunk, const uint8_t (*full)[CHUNK], struct image *to,
                       const struct samples *where, int x, int y)
{
    const struct pixfmt_plane *plane = &pixfmt_info(to->shape.format)->plane[where->plane];
    const int shift_x = plane->shift_x, step_y = 1 << plane->shift_y;
    const int pairs = chunk->width / 2, last = chunk->width - 1;
    uint8_t means[CHUNK];
    for (int row = 0; row < chunk->rows; row += step_y) {
        const uint8_t *upper = full[row], *lower = full[step_y == 2 && chunk->rows == 2 ? 1 : row];
        uint8_t *at = sample_at(to, where, x >> shift_x, (y + row) >> plane->shift_y);
        if (shift_x == 0) {
            put_samples(upper, chunk->width, at, where->step);
            continue;
        }
        mean_row(upper, lower, pairs, means);
        if (chunk->width % 2 != 0)
            means[pairs] = (uint8_t)((upper[last] + lower[last] + 1) >> 1);
        put_samples(means, pairs + chunk->width % 2, at, where->step);
    }
}

static void put_rgb(struct image *to, int x, int y, int width, const uint8_t *rgba)
{
    uint8_t *row = to->plane[0] + (size_t)y * to->stride[0];
    if (to->shape.format == PIXFMT_RGBA) {
        memcpy(row + (size_t)x * 4, rgba, (size_t)width * 4);
        return;
    }
    const int red = to->shape.format == PIXFMT_RGB24 ? 0 : 2;
    row += (size_t)x * 3;
    for (int i = 0; i < width; i++) {
        row[3 * i + red] = rgba[4 * i];
        row[3 * i + 1] = rgba[4 * i + 1];
        row[3 * i + 2 - red] = rgba[4 * i + 2];
    }
}

void encode_rows(const struct encoder *encoder, struct image *to, int x, int y, int width, const uint8_t *upper,
                 const uint8_t *lower)
{
    const struct layout *layout = &layouts[to->shape.format];
    if (!pixfmt_info(to->shape.format)->yuv) {
        put_rgb(to, x, y, width, upper);
        if (lower)
            put_rgb(to, x, y + 1, width, lower);
        return;
    }
    const uint8_t *const rows[] = {upper, lower};
    for (int done = 0; done < width; done += CHUNK) {
        struct chunk chunk;
        chunk.rows = lower ? 2 : 1;
        chunk.width = width - done < CHUNK ? width - done : CHUNK;
        for (int i = 0; i < chunk.rows; i++) {
            const pixel_word *rgba = (const pixel_word *)rows[i] + done;
            luma_row(*encoder, rgba, chunk.width, chunk.y[i]);
            if (layout->u.step != 0)
                chroma_row(*encoder, rgba, chunk.width, chunk.u[i], chunk.v[i]);
        }
        put_luma(&chunk, to, x + done, y);
        if (layout->u.step != 0) {
            put_chroma(&chunk, chunk.u, to, &layout->u, x + done, y);
            put_chroma(&chunk, chunk.v, to, &layout->v, x + done, y);
        }
    }
}

void encode_image(struct image *to, const struct image *rgba)
{
    const struct encoder encoder = encoder_init(to->shape.color);
    for (int y = 0; y < to->shape.height; y += 2) {
        const uint8_t *upper = rgba->plane[0] + (size_t)y * rgba->stride[0];
        encode_rows(&encoder, to, 0, y, to->shape.width, upper,
                    y + 1 < to->shape.height ? upper + rgba->stride[0] : NULL);
    }
}
