// convert.c: converts images of any pixel format to RGBA and back
#include "image/convert.h"

#include "image/rgb_rows.h"

#include <string.h>

static enum yuv_layout yuv_layout_of(const struct pixfmt_info *info)
{
    const struct pixfmt_samples *chroma = &info->samples[1];
    if (chroma->step == 0)
        return YUV_GREY;
    if (chroma->step > 1)
        return chroma->step == 2 ? YUV_SEMIPLANAR : YUV_PACKED;
    return info->plane[chroma->plane].shift_x == 0 ? YUV_FULL : YUV_PLANAR;
}

void convert_row_to_rgba(const struct image *from, const struct color_coefficients *coefficients, int x, int y,
                         int width, uint8_t *rgba, enum row_use use)
{
    const struct pixfmt_info *info = pixfmt_info(from->shape.format);
    const size_t step = info->samples[0].step;
    if (info->yuv) {
        const struct yuv_row row = {yuv_layout_of(info), image_sample(from, 0, x, y), image_sample(from, 1, x, y),
                                    image_sample(from, 2, x, y)};
        yuv_row_to_rgba()(&row, coefficients, width, rgba, use);
    } else if (step == 4) {
        memcpy(rgba, image_row(from, 0, y) + step * (size_t)x, step * (size_t)width);
    } else {
        rgb_rows()->rgb24(image_row(from, 0, y) + step * (size_t)x, info->samples[0].first == 2, rgba, width);
    }
}

void convert_to_rgba(struct image *to, const struct image *from)
{
    const struct color_coefficients coefficients = color_to_rgb(from->shape.color);
    for (int y = 0; y < from->shape.height; y++)
        convert_row_to_rgba(from, &coefficients, 0, y, from->shape.width, image_row(to, 0, y), ROW_KEPT);
}

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
        const uint8_t *upper = image_row(rgba, 0, y);
        encode_rows(&encoder, to, 0, y, to->shape.width, upper,
                    y + 1 < to->shape.height ? image_row(rgba, 0, y + 1) : NULL);
    }
}
