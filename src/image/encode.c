// encode.c: RGBA into any pixel format
#include "image/encode.h"

#include "base/clones.h"
#include "image/encode_rows.h"

#include <string.h>

enum { CHUNK = 256, VECTOR = 32 }; // pixels converted at a time: whole vectors

struct encoder encoder_init(struct color color)
{
    return (struct encoder){.reverse = color_to_yuv(color), .luma_offset = color.range == COLOR_RANGE_FULL ? 0 : 16};
}

// Rows of one chunk at full chroma.
struct chunk {
    uint8_t y[2][CHUNK], u[2][CHUNK], v[2][CHUNK];
    int width, rows;
};

// The colours of a row side by side, shifted as docs/pixels.md section 5 has it: as many fit an instruction as can.
struct colours {
    int16_t red[CHUNK], green[CHUNK], blue[CHUNK];
};

VECTOR_CLONES static void split_row(const pixel_word *restrict rgba, int width, struct colours *restrict to)
{
    for (int x = 0; x < width; x++) {
        const uint32_t pixel = rgba[x];
        to->red[x] = (int16_t)((pixel & 255) << 7);
        to->green[x] = (int16_t)(pixel >> 1 & 255 << 7);
        to->blue[x] = (int16_t)(pixel >> 9 & 255 << 7);
    }
}

VECTOR_CLONES static void weigh_row(const struct colours *restrict colours, int width, int16_t red, int16_t green,
                                    int16_t blue, int middle, uint8_t *restrict to)
{
    const int16_t offset = (int16_t)((middle << 6) + 33);
    for (int x = 0; x < width; x++) {
        const int16_t sum = (int16_t)(upper_half(colours->red[x], red) + upper_half(colours->green[x], green) +
                                      upper_half(colours->blue[x], blue) + offset);
        const int16_t value = (int16_t)(sum >> 6);
        to[x] = (uint8_t)(value > 255 ? 255 : value);
    }
}

static void chunk_row(const struct encoder *encoder, struct chunk *chunk, int row, const uint8_t *rgba, bool chroma)
{
    const struct color_reverse k = encoder->reverse;
    struct colours colours;
    split_row((const pixel_word *)rgba, chunk->width, &colours);
    weigh_row(&colours, chunk->width, (int16_t)k.yr, (int16_t)k.yg, (int16_t)k.yb, encoder->luma_offset, chunk->y[row]);
    if (!chroma)
        return;
    weigh_row(&colours, chunk->width, (int16_t)k.ur, (int16_t)k.ug, (int16_t)k.ub, 128, chunk->u[row]);
    weigh_row(&colours, chunk->width, (int16_t)k.vr, (int16_t)k.vg, (int16_t)k.vb, 128, chunk->v[row]);
}

// Means of pairs of samples in two rows, which may be one and the same.
VECTOR_CLONES static void mean_row(const uint8_t *upper, const uint8_t *lower, int pairs, uint8_t *restrict to)
{
    const byte_pair *up = (const byte_pair *)upper, *low = (const byte_pair *)lower;
    for (int i = 0; i < pairs; i++) {
        const uint16_t a = up[i], b = low[i];
        const uint16_t sum = (uint16_t)((a & 255) + (a >> 8) + (b & 255) + (b >> 8) + 2);
        to[i] = (uint8_t)(sum >> 2);
    }
}

// The place of a sample in row `row` of its plane.
static uint8_t *sample_at(const struct image *to, const struct pixfmt_samples *where, int column, int row)
{
    return image_row(to, where->plane, row) + where->first + (size_t)column * where->step;
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
    const struct pixfmt_samples *where = &pixfmt_info(to->shape.format)->samples[0];
    for (int row = 0; row < chunk->rows; row++)
        put_samples(chunk->y[row], chunk->width, sample_at(to, where, x, y + row), where->step);
}

// Each sample is the mean of the pixels it covers; at an odd edge the last pixel counts twice, which is the same mean.
static void put_chroma(const struct chunk *chunk, const uint8_t (*full)[CHUNK], struct image *to,
                       const struct pixfmt_samples *where, int x, int y)
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
    uint8_t *row = image_row(to, 0, y);
    if (to->shape.format == PIXFMT_RGBA) {
        memcpy(row + (size_t)x * 4, rgba, (size_t)width * 4);
        return;
    }
    const int red = pixfmt_info(to->shape.format)->samples[0].first;
    row += (size_t)x * 3;
    for (int i = 0; i < width; i++) {
        row[3 * i + red] = rgba[4 * i];
        row[3 * i + 1] = rgba[4 * i + 1];
        row[3 * i + 2 - red] = rgba[4 * i + 2];
    }
}

// Where the chunk at `done` begins: the last one early where it can, so that it is whole vectors, too, and one pixel
// more if the row's width is odd.
static int chunk_begin(struct chunk *chunk, int done, int width)
{
    const int left = width - done, odd = left % 2, whole = (left - odd + VECTOR - 1) / VECTOR * VECTOR + odd;
    chunk->width = left >= CHUNK ? CHUNK : whole <= width && whole <= CHUNK ? whole : left;
    return left >= CHUNK ? done : width - chunk->width;
}

// Grey keeps its value in full range.
VECTOR_CLONES static void put_grey(const pixel_word *restrict rgba, int width, uint8_t *restrict to)
{
    for (int x = 0; x < width; x++)
        to[x] = (uint8_t)rgba[x];
}

// Makes as much of the rows as fills vectors, and returns of how many pixels.
static int made_by_vectors(const struct encoder *encoder, struct image *to, int x, int y, int width,
                           const uint8_t *upper, const uint8_t *lower)
{
    const struct pixfmt_info *info = pixfmt_info(to->shape.format);
    const struct pixfmt_samples *samples = info->samples;
    const struct pixfmt_plane *chroma = &info->plane[samples[1].plane];
    const bool together = lower && chroma->shift_y > 0;
    const struct encode_rows rows = {
        .layout = yuv_layout_of(info),
        .rgba = {upper, together ? lower : NULL},
        .y = {sample_at(to, &samples[0], x, y), together ? sample_at(to, &samples[0], x, y + 1) : NULL},
        .u = sample_at(to, &samples[1], x >> chroma->shift_x, y >> chroma->shift_y),
        .v = sample_at(to, &samples[2], x >> chroma->shift_x, y >> chroma->shift_y),
    };
    if (lower && !together)
        made_by_vectors(encoder, to, x, y + 1, width, lower, NULL);
    return encode_rows_vector(encoder, &rows, width);
}

void encode_rows(const struct encoder *encoder, struct image *to, int x, int y, int width, const uint8_t *upper,
                 const uint8_t *lower)
{
    const struct pixfmt_info *info = pixfmt_info(to->shape.format);
    if (!info->yuv) {
        put_rgb(to, x, y, width, upper);
        if (lower)
            put_rgb(to, x, y + 1, width, lower);
        return;
    }
    const bool chroma = info->samples[1].step != 0;
    if (encoder->grey && encoder->luma_offset == 0 && to->shape.format == PIXFMT_GREY) {
        put_grey((const pixel_word *)upper, width, sample_at(to, &info->samples[0], x, y));
        if (lower)
            put_grey((const pixel_word *)lower, width, sample_at(to, &info->samples[0], x, y + 1));
        return;
    }
    for (int done = made_by_vectors(encoder, to, x, y, width, upper, lower); done < width; done += CHUNK) {
        struct chunk chunk;
        chunk.rows = lower ? 2 : 1;
        const int first = chunk_begin(&chunk, done, width);
        chunk_row(encoder, &chunk, 0, upper + (size_t)first * 4, chroma);
        if (lower)
            chunk_row(encoder, &chunk, 1, lower + (size_t)first * 4, chroma);
        put_luma(&chunk, to, x + first, y);
        if (chroma) {
            put_chroma(&chunk, chunk.u, to, &info->samples[1], x + first, y);
            put_chroma(&chunk, chunk.v, to, &info->samples[2], x + first, y);
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
