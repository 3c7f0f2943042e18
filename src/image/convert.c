// convert.c: rows of any pixel format to RGBA
#include "image/convert.h"

#include "base/clones.h"
#include "image/rgb_rows.h"
#include "image/yuv_rows.h"

// docs/pixels.md section 1; every intermediate value fits 16 bits, and a product's upper half is one instruction.
static inline uint32_t yuv_pixel(struct color_coefficients k, int luma, int u8, int v8)
{
    const int y = ((luma << 7) * k.cy >> 16) + k.bias;
    const int u = (u8 - 128) * 256, v = (v8 - 128) * 256;
    const uint32_t r = (uint32_t)sat8((y + (v * k.rv >> 16)) >> 5);
    const uint32_t g = (uint32_t)sat8((y - (u * k.gu >> 16) - (v * k.gv >> 16)) >> 5);
    const uint32_t b = (uint32_t)sat8((y + (u * k.bu >> 16)) >> 5);
    return r | g << 8 | b << 16 | 0xff000000u;
}

// Where row `y` of a plane begins; the row above counts twice in vertically subsampled planes.
static const uint8_t *plane_row(const struct image *from, int plane, int y)
{
    return image_row(from, plane, y >> pixfmt_info(from->shape.format)->plane[plane].shift_y);
}

VECTOR_CLONES static void grey_pixels(struct color_coefficients k, const uint8_t *restrict y, const uint8_t *u,
                                      const uint8_t *v, int first, int width, pixel_word *restrict rgba)
{
    for (int x = first; x < width; x++)
        rgba[x] = yuv_pixel(k, y[x], 128, 128);
}

VECTOR_CLONES static void full_pixels(struct color_coefficients k, const uint8_t *restrict y, const uint8_t *restrict u,
                                      const uint8_t *restrict v, int first, int width, pixel_word *restrict rgba)
{
    for (int x = first; x < width; x++)
        rgba[x] = yuv_pixel(k, y[x], u[x], v[x]);
}

enum { CHUNK = 128, VECTOR = 16 }; // pairs of pixels converted at a time: whole vectors

// Pairs of pixels, left and right: samples shifted as docs/pixels.md section 1 has it, then the lower and the upper
// half of each pixel. 16 bits throughout, and each step a loop over memory, so that as many fit an instruction as can.
struct pairs {
    int16_t luma[2][CHUNK], u[CHUNK], v[CHUNK];
    uint16_t lower[2][CHUNK], upper[2][CHUNK];
};

// Samples lie y_step and c_step bytes apart; constants where inlined.
static inline void spread_samples(const uint8_t *restrict y, int y_step, const uint8_t *restrict u,
                                  const uint8_t *restrict v, int c_step, int count, struct pairs *restrict to)
{
    for (int i = 0; i < count; i++) {
        to->luma[0][i] = (int16_t)(y[2 * i * y_step] << 7);
        to->luma[1][i] = (int16_t)(y[(2 * i + 1) * y_step] << 7);
    }
    for (int i = 0; i < count; i++) {
        to->u[i] = (int16_t)((u[i * c_step] - 128) * 256);
        to->v[i] = (int16_t)((v[i * c_step] - 128) * 256);
    }
}

static inline uint16_t colour(int16_t luma, int16_t chroma)
{
    const int16_t value = (int16_t)((int16_t)(luma + chroma) >> 5);
    return (uint16_t)(value < 0 ? 0 : value > 255 ? 255 : value);
}

VECTOR_CLONES static void colour_pairs(struct color_coefficients k, struct pairs *restrict pairs, int count)
{
    const int16_t cy = (int16_t)k.cy, rv = (int16_t)k.rv, gu = (int16_t)k.gu, gv = (int16_t)k.gv, bu = (int16_t)k.bu;
    for (int i = 0; i < count; i++) {
        const int16_t red = upper_half(pairs->v[i], rv), blue = upper_half(pairs->u[i], bu);
        const int16_t green = (int16_t)(-upper_half(pairs->u[i], gu) - upper_half(pairs->v[i], gv));
        const int16_t left = (int16_t)(upper_half(pairs->luma[0][i], cy) + k.bias);
        const int16_t right = (int16_t)(upper_half(pairs->luma[1][i], cy) + k.bias);
        pairs->lower[0][i] = (uint16_t)(colour(left, red) | colour(left, green) << 8);
        pairs->upper[0][i] = (uint16_t)(colour(left, blue) | 0xff00);
        pairs->lower[1][i] = (uint16_t)(colour(right, red) | colour(right, green) << 8);
        pairs->upper[1][i] = (uint16_t)(colour(right, blue) | 0xff00);
    }
}

VECTOR_CLONES static void join_pairs(const struct pairs *restrict pairs, int count, byte_pair *restrict to)
{
    for (int i = 0; i < count; i++) {
        to[4 * i] = pairs->lower[0][i];
        to[4 * i + 1] = pairs->upper[0][i];
        to[4 * i + 2] = pairs->lower[1][i];
        to[4 * i + 3] = pairs->upper[1][i];
    }
}

// Pixels from `first` on, an even number, that share chroma two by two. The last chunk begins early where it can: it is
// whole vectors then, too.
static inline void pairs_row(struct color_coefficients k, const uint8_t *restrict y, int y_step,
                             const uint8_t *restrict u, const uint8_t *restrict v, int c_step, int first, int width,
                             pixel_word *restrict rgba)
{
    struct pairs pairs;
    const int all = width / 2;
    for (int done = first / 2; done < all; done += CHUNK) {
        const int left = all - done, whole = (left + VECTOR - 1) / VECTOR * VECTOR;
        const int count = left >= CHUNK ? CHUNK : whole <= all ? whole : left;
        const int at = left >= CHUNK ? done : all - count;
        spread_samples(y + 2 * at * y_step, y_step, u + at * c_step, v + at * c_step, c_step, count, &pairs);
        colour_pairs(k, &pairs, count);
        join_pairs(&pairs, count, (byte_pair *)(rgba + 2 * at));
    }
    if (width % 2 != 0)
        rgba[width - 1] = yuv_pixel(k, y[(width - 1) * y_step], u[all * c_step], v[all * c_step]);
}

#define PAIRS(name, y_step, c_step)                                                                                    \
    VECTOR_CLONES static void name(struct color_coefficients k, const uint8_t *y, const uint8_t *u, const uint8_t *v,  \
                                   int first, int width, pixel_word *rgba)                                             \
    {                                                                                                                  \
        pairs_row(k, y, y_step, u, v, c_step, first, width, rgba);                                                     \
    }
PAIRS(planar_pixels, 1, 1)
PAIRS(semiplanar_pixels, 1, 2)
PAIRS(packed_pixels, 2, 4)
#undef PAIRS

// Pixels first..width-1, for every layout.
static void (*const layout_pixels[YUV_LAYOUTS])(struct color_coefficients k, const uint8_t *y, const uint8_t *u,
                                                const uint8_t *v, int first, int width, pixel_word *rgba) = {
    [YUV_GREY] = grey_pixels,     [YUV_FULL] = full_pixels,
    [YUV_PLANAR] = planar_pixels, [YUV_SEMIPLANAR] = semiplanar_pixels,
    [YUV_PACKED] = packed_pixels,
};

enum yuv_layout yuv_layout_of(const struct pixfmt_info *info)
{
    const struct pixfmt_samples *chroma = &info->samples[1];
    if (chroma->step == 0)
        return YUV_GREY;
    if (chroma->step > 1)
        return chroma->step == 2 ? YUV_SEMIPLANAR : YUV_PACKED;
    return info->plane[chroma->plane].shift_x == 0 ? YUV_FULL : YUV_PLANAR;
}

static const uint8_t *first_sample(const struct image *from, struct pixfmt_samples where, int y)
{
    return plane_row(from, where.plane, y) + where.first;
}

static void yuv_row(const struct image *from, const struct color_coefficients *k, int y, uint8_t *rgba,
                    enum convert_into into)
{
    const struct pixfmt_info *info = pixfmt_info(from->shape.format);
    const struct yuv_row row = {yuv_layout_of(info), first_sample(from, info->samples[0], y),
                                first_sample(from, info->samples[1], y), first_sample(from, info->samples[2], y)};
    const int width = from->shape.width, done = yuv_row_vector(&row, k, width, rgba, into);
    if (done < width)
        layout_pixels[row.layout](*k, row.y, row.u, row.v, done, width, (pixel_word *)rgba);
}

void convert_row_to_rgba(const struct image *from, const struct color_coefficients *coefficients, int y, uint8_t *rgba,
                         enum convert_into into)
{
    const bool past = into == CONVERT_PAST_CACHES;
    switch (from->shape.format) {
    case PIXFMT_RGBA:
        rgba_row_copy(plane_row(from, 0, y), NULL, rgba, from->shape.width, past);
        return;
    case PIXFMT_RGB24:
    case PIXFMT_BGR24:
        rgb24_row(plane_row(from, 0, y), from->shape.format == PIXFMT_RGB24, rgba, from->shape.width, past);
        return;
    default:
        yuv_row(from, coefficients, y, rgba, into);
    }
}

void convert_to_rgba(struct image *to, const struct image *from)
{
    const struct color_coefficients coefficients = color_to_rgb(from->shape.color);
    for (int y = 0; y < from->shape.height; y++)
        convert_row_to_rgba(from, &coefficients, y, to->plane[0] + (size_t)y * to->stride[0], CONVERT_INTO_MEMORY);
}
