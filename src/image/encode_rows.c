// encode_rows.c: converts rows of RGBA to YUV; compiled once per instruction set
#include "image/encode_rows.h"

#include "base/vector.h"

// docs/pixels.md section 5.
static int weigh_pixel(const uint8_t *pixel, int red, int green, int blue, int middle)
{
    const int sum = (pixel[0] * red >> 9) + (pixel[1] * green >> 9) + (pixel[2] * blue >> 9) + (middle << 6) + 33;
    const int value = sum >> 6;
    return value > 255 ? 255 : value;
}

// Makes the samples of pixels first..width-1. Samples of luma are `y_step` bytes apart. Samples of chroma are `c_step`
// bytes apart (0: there are none) and belong to blocks of `block` columns. If a block has fewer than four pixels, some
// count twice; the mean is the same.
VECTOR_INLINE void make_samples(const struct encoder *encoder, const struct encode_rows *rows, int y_step, int c_step,
                                int block, int first, int width)
{
    const struct color_reverse k = encoder->reverse;
    for (int row = 0; row < 2 && rows->rgba[row]; row++)
        for (int x = first; x < width; x++)
            rows->y[row][x * y_step] =
                (uint8_t)weigh_pixel(rows->rgba[row] + 4 * x, k.yr, k.yg, k.yb, encoder->luma_offset);
    for (int x = first; c_step > 0 && x < width; x += block) {
        const int last = 4 * (x + block <= width ? x + block - 1 : width - 1);
        const uint8_t *upper = rows->rgba[0], *lower = rows->rgba[rows->rgba[1] ? 1 : 0];
        const uint8_t *pixels[] = {upper + 4 * x, upper + last, lower + 4 * x, lower + last};
        int u = 2, v = 2;
        for (int i = 0; i < 4; i++) {
            u += weigh_pixel(pixels[i], k.ur, k.ug, k.ub, 128);
            v += weigh_pixel(pixels[i], k.vr, k.vg, k.vb, 128);
        }
        rows->u[x / block * c_step] = (uint8_t)(u >> 2);
        rows->v[x / block * c_step] = (uint8_t)(v >> 2);
    }
}

#if VECTOR_BYTES

// docs/pixels.md section 5, in every lane.
struct weights {
    vec_s16 red, green, blue, offset;
};

struct coefficients {
    struct weights y, u, v;
};

// The samples of a vector of pixels.
struct samples {
    vec_u8 y, u, v;
};

VECTOR_INLINE struct weights spread_weights(int red, int green, int blue, int middle)
{
    return (struct weights){vec_spread_s16(red), vec_spread_s16(green), vec_spread_s16(blue),
                            vec_spread_s16((middle << 6) + 33)};
}

VECTOR_INLINE vec_s16 weigh_lanes(const struct weights *k, vec_s16 red, vec_s16 green, vec_s16 blue)
{
    return vec_upper_s16(red, k->red) + vec_upper_s16(green, k->green) + vec_upper_s16(blue, k->blue) + k->offset;
}

VECTOR_INLINE vec_u8 weigh(const struct weights *k, struct vec_two_s16 red, struct vec_two_s16 green,
                           struct vec_two_s16 blue)
{
    return vec_narrow(weigh_lanes(k, red.a, green.a, blue.a), weigh_lanes(k, red.b, green.b, blue.b), 6);
}

VECTOR_INLINE struct samples weigh_pixels(const struct coefficients *k, enum yuv_layout layout, const uint8_t *rgba)
{
    const struct vec_rgb bytes = vec_load_rgba(rgba);
    const struct vec_two_s16 red = vec_widen(bytes.r, VECTOR_UPPER_SHIFT - 9);
    const struct vec_two_s16 green = vec_widen(bytes.g, VECTOR_UPPER_SHIFT - 9);
    const struct vec_two_s16 blue = vec_widen(bytes.b, VECTOR_UPPER_SHIFT - 9);
    struct samples samples = {.y = weigh(&k->y, red, green, blue)};
    if (layout != YUV_GREY) {
        samples.u = weigh(&k->u, red, green, blue);
        samples.v = weigh(&k->v, red, green, blue);
    }
    return samples;
}

// Returns the means of blocks: two columns, of one row or of two rows.
VECTOR_INLINE vec_u16 mean(vec_u8 upper, vec_u8 lower, bool two)
{
    return two ? (vec_pair_sums(upper) + vec_pair_sums(lower) + 2) >> 2 : (vec_pair_sums(upper) + 1) >> 1;
}

// Makes the samples of a vector of pixels, from `x` on. `layout`, `two` and the order of samples are constants where
// this is inlined.
VECTOR_INLINE void make_block(const struct coefficients *k, const struct encode_rows *rows, enum yuv_layout layout,
                              bool two, bool luma_first, bool v_first, int x)
{
    const struct samples upper = weigh_pixels(k, layout, rows->rgba[0] + 4 * x);
    const struct samples lower = two ? weigh_pixels(k, layout, rows->rgba[1] + 4 * x) : upper;
    if (layout != YUV_PACKED)
        vec_store_u8(rows->y[0] + x, upper.y);
    if (two)
        vec_store_u8(rows->y[1] + x, lower.y);
    if (layout == YUV_FULL) {
        vec_store_u8(rows->u + x, upper.u);
        vec_store_u8(rows->v + x, upper.v);
    }
    if (layout == YUV_GREY || layout == YUV_FULL)
        return;
    const vec_u16 u = mean(upper.u, lower.u, two), v = mean(upper.v, lower.v, two);
    const vec_u8 pairs = (vec_u8)(v_first ? v | u << 8 : u | v << 8);
    if (layout == YUV_PLANAR) {
        vec_store_half(rows->u + x / 2, u);
        vec_store_half(rows->v + x / 2, v);
    } else if (layout == YUV_SEMIPLANAR) {
        vec_store_u8((v_first ? rows->v : rows->u) + x, pairs);
    } else {
        const struct vec_two_u8 packed =
            luma_first ? vec_interleave_u8(upper.y, pairs) : vec_interleave_u8(pairs, upper.y);
        uint8_t *to = (luma_first ? rows->y[0] : v_first ? rows->v : rows->u) + 2 * x;
        vec_store_u8(to, packed.a);
        vec_store_u8(to + VECTOR_BYTES, packed.b);
    }
}

VECTOR_INLINE void make_blocks(const struct encoder *encoder, const struct encode_rows *rows, enum yuv_layout layout,
                               bool two, bool luma_first, int width)
{
    const struct encode_rows kept = *rows; // constant, so that compilers need not read it again after each store
    const struct color_reverse *k = &encoder->reverse;
    const bool v_first = rows->v < rows->u;
    const struct coefficients lanes = {
        .y = spread_weights(k->yr, k->yg, k->yb, encoder->luma_offset),
        .u = spread_weights(k->ur, k->ug, k->ub, 128),
        .v = spread_weights(k->vr, k->vg, k->vb, 128),
    };
    for (int x = 0; x < width; x += VECTOR_BYTES)
        make_block(&lanes, &kept, layout, two, luma_first, v_first, vector_begin(x, VECTOR_BYTES, width));
}

// Makes the samples of `width` pixels, an even number.
static void make_vectors(const struct encoder *encoder, const struct encode_rows *rows, int width)
{
    const bool two = rows->rgba[1] != NULL;
    switch (rows->layout) {
    case YUV_GREY:
        make_blocks(encoder, rows, YUV_GREY, false, true, width);
        break;
    case YUV_FULL:
        make_blocks(encoder, rows, YUV_FULL, false, true, width);
        break;
    case YUV_PLANAR:
        if (two)
            make_blocks(encoder, rows, YUV_PLANAR, true, true, width);
        else
            make_blocks(encoder, rows, YUV_PLANAR, false, true, width);
        break;
    case YUV_SEMIPLANAR:
        if (two)
            make_blocks(encoder, rows, YUV_SEMIPLANAR, true, true, width);
        else
            make_blocks(encoder, rows, YUV_SEMIPLANAR, false, true, width);
        break;
    case YUV_PACKED:
        if (rows->y[0] < rows->u)
            make_blocks(encoder, rows, YUV_PACKED, false, true, width);
        else
            make_blocks(encoder, rows, YUV_PACKED, false, false, width);
    }
}

#endif

void VECTORS_NAME(encode_rows_to_yuv)(const struct encoder *encoder, const struct encode_rows *rows, int width)
{
    int done = 0;
#if VECTOR_BYTES
    if (width >= VECTOR_BYTES) {
        done = width / 2 * 2;
        make_vectors(encoder, rows, done);
    }
#endif
    switch (rows->layout) {
    case YUV_GREY:
        make_samples(encoder, rows, 1, 0, 1, done, width);
        break;
    case YUV_FULL:
        make_samples(encoder, rows, 1, 1, 1, done, width);
        break;
    case YUV_PLANAR:
        make_samples(encoder, rows, 1, 1, 2, done, width);
        break;
    case YUV_SEMIPLANAR:
        make_samples(encoder, rows, 1, 2, 2, done, width);
        break;
    case YUV_PACKED:
        make_samples(encoder, rows, 2, 4, 2, done, width);
    }
}
