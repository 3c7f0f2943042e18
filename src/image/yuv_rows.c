// yuv_rows.c: converts rows between YUV and RGBA; compiled once per instruction set
#include "image/convert.h"

#include "base/number.h"
#include "base/vector.h"

static int16_t upper_half(int16_t a, int16_t b)
{
    return (int16_t)(a * b >> 16);
}

static uint32_t channel(int16_t value)
{
    const int16_t whole = (int16_t)(value >> 5);
    return (uint32_t)clamp_int(whole, 0, 255);
}

// docs/pixels.md section 1. Every intermediate value fits 16 bits.
static uint32_t make_pixel(struct color_coefficients k, int luma, int u8, int v8)
{
    const int16_t y = (int16_t)(upper_half((int16_t)(luma << 7), (int16_t)k.cy) + k.bias);
    const int16_t u = (int16_t)((u8 - 128) * 256), v = (int16_t)((v8 - 128) * 256);
    const int16_t green = (int16_t)(upper_half(u, (int16_t)k.gu) + upper_half(v, (int16_t)k.gv));
    const uint32_t red = channel((int16_t)(y + upper_half(v, (int16_t)k.rv)));
    const uint32_t blue = channel((int16_t)(y + upper_half(u, (int16_t)k.bu)));
    return red | channel((int16_t)(y - green)) << 8 | blue << 16 | 0xff000000u;
}

// Bytes between samples of luma, and between samples of chroma (0: there are none); log2 of the pixels that share a
// sample of chroma. Constants where they are inlined.
struct steps {
    int luma, chroma, shift;
};

VECTOR_INLINE struct steps steps_of(enum yuv_layout layout)
{
    return layout == YUV_GREY         ? (struct steps){1, 0, 0}
           : layout == YUV_FULL       ? (struct steps){1, 1, 0}
           : layout == YUV_PLANAR     ? (struct steps){1, 1, 1}
           : layout == YUV_SEMIPLANAR ? (struct steps){1, 2, 1}
                                      : (struct steps){2, 4, 1};
}

// Makes pixels first..width-1.
VECTOR_INLINE void make_pixels(const struct yuv_row *row, struct color_coefficients k, enum yuv_layout layout,
                               int first, int width, pixel_word *restrict rgba)
{
    const struct steps step = steps_of(layout);
    const uint8_t *restrict y = row->y, *restrict u = row->u, *restrict v = row->v;
    for (int x = first; x < width; x++)
        rgba[x] = layout == YUV_GREY ? make_pixel(k, y[x], 128, 128)
                                     : make_pixel(k, y[x * step.luma], u[(x >> step.shift) * step.chroma],
                                                  v[(x >> step.shift) * step.chroma]);
}

#if VECTOR_BYTES

enum { FETCH_DISTANCE = 384, FETCH_TO_WRITE_DISTANCE = 6144 }; // bytes

// docs/pixels.md section 1, in every lane.
struct coefficients {
    vec_s16 cy, bias, rv, gu, gv, bu;
};

// The values that chroma adds to red and blue and subtracts from green.
struct chroma {
    vec_s16 red, green, blue;
};

VECTOR_INLINE struct chroma weigh_chroma(const struct coefficients *k, vec_s16 u, vec_s16 v)
{
    return (struct chroma){vec_upper_s16(v, k->rv), vec_upper_s16(u, k->gu) + vec_upper_s16(v, k->gv),
                           vec_upper_s16(u, k->bu)};
}

// The even samples and the odd samples as factors for vec_upper_s16: (sample - 128) << 8, on NEON << 7.
VECTOR_INLINE vec_s16 chroma_even(vec_u8 bytes)
{
    return (vec_s16)((vec_u16)bytes << 8 ^ 0x8000) >> (16 - VECTOR_UPPER_SHIFT);
}

VECTOR_INLINE vec_s16 chroma_odd(vec_u8 bytes)
{
    return (vec_s16)(((vec_u16)bytes & 0xff00) ^ 0x8000) >> (16 - VECTOR_UPPER_SHIFT);
}

// Prefetches the samples of a block a little later, perhaps in the next row. Processors prefetch within a row by
// themselves, but too late for rows of 2160p.
VECTOR_INLINE void fetch_samples(const struct yuv_row *row, enum yuv_layout layout, int x)
{
    const int chroma = layout == YUV_PLANAR ? x / 2 : x;
    vec_fetch(row->y + (layout == YUV_PACKED ? 2 * x : x) + FETCH_DISTANCE);
    if (layout != YUV_GREY && layout != YUV_PACKED)
        vec_fetch(row->u + chroma + FETCH_DISTANCE);
    if (layout == YUV_FULL || layout == YUV_PLANAR)
        vec_fetch(row->v + chroma + FETCH_DISTANCE);
}

// Makes a vector of pixels, from `x` on. Even pixels lie in one vector, odd pixels in another: lane i of both has the
// same chroma, which is multiplied once. `layout` and the order of samples are constants where this is inlined.
VECTOR_INLINE void make_block(const struct yuv_row *row, const struct coefficients *k, enum yuv_layout layout,
                              bool luma_first, bool v_first, int x, uint8_t *rgba, enum row_use use)
{
    vec_u8 luma, pairs = {0};
    fetch_samples(row, layout, x);
    for (int i = 0; use == ROW_KEPT && i < 4 * VECTOR_BYTES; i += CACHE_LINE)
        vec_fetch_to_write(rgba + FETCH_TO_WRITE_DISTANCE + i);
    if (layout == YUV_PACKED) {
        const uint8_t *chroma = v_first ? row->v : row->u;
        const uint8_t *from = (luma_first ? row->y : chroma) + 2 * x;
        const struct vec_two_u8 apart = vec_separate_u8(vec_load_u8(from), vec_load_u8(from + VECTOR_BYTES));
        luma = luma_first ? apart.a : apart.b;
        pairs = luma_first ? apart.b : apart.a;
    } else {
        luma = vec_load_u8(row->y + x);
    }
    const vec_s16 even = vec_upper_s16((vec_s16)vec_even(luma, VECTOR_UPPER_SHIFT - 9), k->cy) + k->bias;
    const vec_s16 odd = vec_upper_s16((vec_s16)vec_odd(luma, VECTOR_UPPER_SHIFT - 9), k->cy) + k->bias;
    if (layout == YUV_GREY) {
        const vec_u8 grey = vec_join(even, odd, 5);
        vec_store_joined(rgba, grey, grey, grey, use == ROW_STREAMED);
        return;
    }
    struct chroma a, b;
    if (layout == YUV_FULL) {
        const vec_u8 u = vec_load_u8(row->u + x), v = vec_load_u8(row->v + x);
        a = weigh_chroma(k, chroma_even(u), chroma_even(v));
        b = weigh_chroma(k, chroma_odd(u), chroma_odd(v));
    } else if (layout == YUV_PLANAR) {
        const vec_u8 u = (vec_u8)vec_load_half(row->u + x / 2), v = (vec_u8)vec_load_half(row->v + x / 2);
        a = b = weigh_chroma(k, chroma_even(u), chroma_even(v));
    } else {
        if (layout == YUV_SEMIPLANAR)
            pairs = vec_load_u8((v_first ? row->v : row->u) + x);
        a = b = v_first ? weigh_chroma(k, chroma_odd(pairs), chroma_even(pairs))
                        : weigh_chroma(k, chroma_even(pairs), chroma_odd(pairs));
    }
    vec_store_joined(rgba, vec_join(even + a.red, odd + b.red, 5), vec_join(even - a.green, odd - b.green, 5),
                     vec_join(even + a.blue, odd + b.blue, 5), use == ROW_STREAMED);
}

VECTOR_INLINE void make_blocks(const struct yuv_row *row, const struct color_coefficients *k, enum yuv_layout layout,
                               bool luma_first, bool v_first, int width, uint8_t *rgba, enum row_use use)
{
    const struct yuv_row kept = *row; // constant, so that compilers need not read it again after each store
    const struct coefficients lanes = {vec_spread_s16(k->cy), vec_spread_s16(k->bias), vec_spread_s16(k->rv),
                                       vec_spread_s16(k->gu), vec_spread_s16(k->gv),   vec_spread_s16(k->bu)};
    for (int x = 0; x < width; x += VECTOR_BYTES) {
        const int at = vector_begin(x, VECTOR_BYTES, width);
        make_block(&kept, &lanes, layout, luma_first, v_first, at, rgba + 4 * at, at == x ? use : ROW_CACHED);
    }
}

#endif

VECTOR_INLINE void make_row(const struct yuv_row *row, const struct color_coefficients *k, enum yuv_layout layout,
                            bool luma_first, bool v_first, int width, uint8_t *rgba, enum row_use use)
{
    int done = 0;
#if VECTOR_BYTES
    if (width >= VECTOR_BYTES) {
        done = width / 2 * 2;
        make_blocks(row, k, layout, luma_first, v_first, done, rgba,
                    use == ROW_STREAMED && (uintptr_t)rgba % VECTOR_BYTES ? ROW_KEPT : use);
    }
#endif
    make_pixels(row, *k, layout, done, width, (pixel_word *)rgba);
}

void VECTORS_NAME(yuv_row_to_rgba)(const struct yuv_row *row, const struct color_coefficients *k, int width,
                                   uint8_t *rgba, enum row_use use)
{
    const bool luma_first = row->y < row->u, v_first = row->v < row->u;
    switch (row->layout) {
    case YUV_GREY:
        make_row(row, k, YUV_GREY, true, false, width, rgba, use);
        break;
    case YUV_FULL:
        make_row(row, k, YUV_FULL, true, false, width, rgba, use);
        break;
    case YUV_PLANAR:
        make_row(row, k, YUV_PLANAR, true, false, width, rgba, use);
        break;
    case YUV_SEMIPLANAR:
        if (v_first)
            make_row(row, k, YUV_SEMIPLANAR, true, true, width, rgba, use);
        else
            make_row(row, k, YUV_SEMIPLANAR, true, false, width, rgba, use);
        break;
    case YUV_PACKED:
        if (luma_first)
            make_row(row, k, YUV_PACKED, true, v_first, width, rgba, use);
        else
            make_row(row, k, YUV_PACKED, false, v_first, width, rgba, use);
    }
}

// docs/pixels.md section 5.
static int weigh_pixel(const uint8_t *pixel, int red, int green, int blue, int middle)
{
    const int sum = (pixel[0] * red >> 9) + (pixel[1] * green >> 9) + (pixel[2] * blue >> 9) + (middle << 6) + 33;
    const int value = sum >> 6;
    return value > 255 ? 255 : value;
}

// Makes the samples of pixels first..width-1. If a block of pixels that share a sample of chroma has fewer than four,
// some count twice; the mean is the same.
VECTOR_INLINE void make_samples(const struct encoder *encoder, const struct encode_rows *rows, enum yuv_layout layout,
                                int first, int width)
{
    const struct color_reverse k = encoder->reverse;
    const struct steps step = steps_of(layout);
    const int block = 1 << step.shift;
    for (int row = 0; row < 2 && rows->rgba[row]; row++)
        for (int x = first; x < width; x++)
            rows->y[row][x * step.luma] =
                (uint8_t)weigh_pixel(rows->rgba[row] + 4 * x, k.yr, k.yg, k.yb, encoder->luma_offset);
    for (int x = first; layout != YUV_GREY && x < width; x += block) {
        const int last = 4 * (x + block <= width ? x + block - 1 : width - 1);
        const uint8_t *upper = rows->rgba[0], *lower = rows->rgba[rows->rgba[1] ? 1 : 0];
        const uint8_t *pixels[] = {upper + 4 * x, upper + last, lower + 4 * x, lower + last};
        int u = 2, v = 2;
        for (int i = 0; i < 4; i++) {
            u += weigh_pixel(pixels[i], k.ur, k.ug, k.ub, 128);
            v += weigh_pixel(pixels[i], k.vr, k.vg, k.vb, 128);
        }
        rows->u[x / block * step.chroma] = (uint8_t)(u >> 2);
        rows->v[x / block * step.chroma] = (uint8_t)(v >> 2);
    }
}

#if VECTOR_BYTES

// docs/pixels.md section 5, in every lane.
struct weights {
    vec_s16 red, green, blue, offset;
};

struct reverse {
    struct weights y, u, v;
};

// The samples of a vector of pixels.
struct pixel_samples {
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

VECTOR_INLINE struct pixel_samples weigh_pixels(const struct reverse *k, enum yuv_layout layout, const uint8_t *rgba)
{
    const struct vec_rgb bytes = vec_load_rgba(rgba);
    const struct vec_two_s16 red = vec_widen(bytes.r, VECTOR_UPPER_SHIFT - 9);
    const struct vec_two_s16 green = vec_widen(bytes.g, VECTOR_UPPER_SHIFT - 9);
    const struct vec_two_s16 blue = vec_widen(bytes.b, VECTOR_UPPER_SHIFT - 9);
    struct pixel_samples samples = {.y = weigh(&k->y, red, green, blue)};
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
VECTOR_INLINE void encode_block(const struct reverse *k, const struct encode_rows *rows, enum yuv_layout layout,
                                bool two, bool luma_first, bool v_first, int x)
{
    const struct pixel_samples upper = weigh_pixels(k, layout, rows->rgba[0] + 4 * x);
    const struct pixel_samples lower = two ? weigh_pixels(k, layout, rows->rgba[1] + 4 * x) : upper;
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
        uint8_t *chroma = v_first ? rows->v : rows->u;
        uint8_t *to = (luma_first ? rows->y[0] : chroma) + 2 * x;
        vec_store_u8(to, packed.a);
        vec_store_u8(to + VECTOR_BYTES, packed.b);
    }
}

VECTOR_INLINE void encode_blocks(const struct encoder *encoder, const struct encode_rows *rows, enum yuv_layout layout,
                                 bool two, bool luma_first, int width)
{
    const struct encode_rows kept = *rows; // constant, so that compilers need not read it again after each store
    const struct color_reverse *k = &encoder->reverse;
    const bool v_first = rows->v < rows->u;
    const struct reverse lanes = {
        .y = spread_weights(k->yr, k->yg, k->yb, encoder->luma_offset),
        .u = spread_weights(k->ur, k->ug, k->ub, 128),
        .v = spread_weights(k->vr, k->vg, k->vb, 128),
    };
    for (int x = 0; x < width; x += VECTOR_BYTES)
        encode_block(&lanes, &kept, layout, two, luma_first, v_first, vector_begin(x, VECTOR_BYTES, width));
}

#endif

VECTOR_INLINE void encode_row(const struct encoder *encoder, const struct encode_rows *rows, enum yuv_layout layout,
                              bool two, bool luma_first, int width)
{
    int done = 0;
#if VECTOR_BYTES
    if (width >= VECTOR_BYTES) {
        done = width / 2 * 2;
        encode_blocks(encoder, rows, layout, two, luma_first, done);
    }
#endif
    make_samples(encoder, rows, layout, done, width);
}

void VECTORS_NAME(encode_rows_to_yuv)(const struct encoder *encoder, const struct encode_rows *rows, int width)
{
    const bool two = rows->rgba[1] != NULL;
    switch (rows->layout) {
    case YUV_GREY:
        encode_row(encoder, rows, YUV_GREY, false, true, width);
        break;
    case YUV_FULL:
        encode_row(encoder, rows, YUV_FULL, false, true, width);
        break;
    case YUV_PLANAR:
        if (two)
            encode_row(encoder, rows, YUV_PLANAR, true, true, width);
        else
            encode_row(encoder, rows, YUV_PLANAR, false, true, width);
        break;
    case YUV_SEMIPLANAR:
        if (two)
            encode_row(encoder, rows, YUV_SEMIPLANAR, true, true, width);
        else
            encode_row(encoder, rows, YUV_SEMIPLANAR, false, true, width);
        break;
    case YUV_PACKED:
        if (rows->y[0] < rows->u)
            encode_row(encoder, rows, YUV_PACKED, false, true, width);
        else
            encode_row(encoder, rows, YUV_PACKED, false, false, width);
    }
}
