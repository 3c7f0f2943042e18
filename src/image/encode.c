// encode.c: converts RGBA to any pixel format
#include "image/encode.h"

#include "image/encode_rows.h"

#include <string.h>

struct encoder encoder_init(struct color color)
{
    return (struct encoder){.reverse = color_to_yuv(color), .luma_offset = color.range == COLOR_RANGE_FULL ? 0 : 16};
}

static void put_rgb(struct image *to, int x, int y, int width, const uint8_t *rgba)
{
    const struct pixfmt_samples *red = &pixfmt_info(to->shape.format)->samples[0];
    uint8_t *row = image_row(to, 0, y) + (size_t)x * red->step;
    if (red->step == 4) {
        memcpy(row, rgba, (size_t)width * 4);
        return;
    }
    for (int i = 0; i < width; i++) {
        row[3 * i + red->first] = rgba[4 * i];
        row[3 * i + 1] = rgba[4 * i + 1];
        row[3 * i + 2 - red->first] = rgba[4 * i + 2];
    }
}

// `lower` is NULL, or shares its chroma with `upper`.
static void put_yuv(const struct encoder *encoder, struct image *to, int x, int y, int width, const uint8_t *upper,
                    const uint8_t *lower)
{
    const struct encode_rows rows = {
        .layout = yuv_layout_of(pixfmt_info(to->shape.format)),
        .rgba = {upper, lower},
        .y = {image_sample(to, 0, x, y), lower ? image_sample(to, 0, x, y + 1) : NULL},
        .u = image_sample(to, 1, x, y),
        .v = image_sample(to, 2, x, y),
    };
    encode_rows_to_yuv()(encoder, &rows, width);
}

void encode_rows(const struct encoder *encoder, struct image *to, int x, int y, int width, const uint8_t *upper,
                 const uint8_t *lower)
{
    const struct pixfmt_info *info = pixfmt_info(to->shape.format);
    const bool shared = info->yuv && info->plane[info->samples[1].plane].shift_y > 0;
    if (info->yuv)
        put_yuv(encoder, to, x, y, width, upper, shared ? lower : NULL);
    else
        put_rgb(to, x, y, width, upper);
    if (lower && !shared)
        encode_rows(encoder, to, x, y + 1, width, lower, NULL);
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
