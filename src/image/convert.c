// convert.c: rows of any pixel format to RGBA
#include "image/convert.h"

#include "image/rgb_rows.h"
#include "image/yuv_rows.h"

#include <string.h>

enum yuv_layout yuv_layout_of(const struct pixfmt_info *info)
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
