// yuv_rows.c: converts rows of YUV to RGBA; compiled once per instruction set
#include "image/yuv_rows.h"

#include "base/vector.h"

static int16_t upper_half(int16_t a, int16_t b)
{
    return (int16_t)(a * b >> 16);
}

static uint32_t channel(int16_t value)
{
    const int16_t whole = (int16_t)(value >> 5);
    return (uint32_t)(whole < 0 ? 0 : whole > 255 ? 255 : whole);
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

// Makes pixels first..width-1. Samples of luma are `y_step` bytes apart. Samples of chroma are `c_step` bytes apart (0:
// there are none) and belong to 1 << shift pixels.
VECTOR_INLINE void make_pixels(const struct yuv_row *row, struct color_coefficients k, int y_step, int c_step,
                               int shift, int first, int width, pixel_word *restrict rgba)
{
    const uint8_t *restrict y = row->y, *restrict u = row->u, *restrict v = row->v;
    for (int x = first; x < width; x++)
        rgba[x] = c_step == 0 ? make_pixel(k, y[x * y_step], 128, 128)
                              : make_pixel(k, y[x * y_step], u[(x >> shift) * c_step], v[(x >> shift) * c_step]);
}

#if VECTOR_BYTES

enum { FETCH_AHEAD = 384, FETCH_TO_WRITE_AHEAD = 6144 }; // bytes

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
    vec_fetch(row->y + (layout == YUV_PACKED ? 2 * x : x) + FETCH_AHEAD);
    if (layout != YUV_GREY && layout != YUV_PACKED)
        vec_fetch(row->u + chroma + FETCH_AHEAD);
    if (layout == YUV_FULL || layout == YUV_PLANAR)
        vec_fetch(row->v + chroma + FETCH_AHEAD);
}

// Makes a vector of pixels, from `x` on. Even pixels lie in one vector, odd pixels in another: lane i of both has the
// same chroma, which is multiplied once. `layout` and the order of samples are constants where this is inlined.
VECTOR_INLINE void make_block(const struct yuv_row *row, const struct coefficients *k, enum yuv_layout layout,
                              bool luma_first, bool v_first, int x, uint8_t *rgba, enum row_use use)
{
    vec_u8 luma, pairs = {0};
    fetch_samples(row, layout, x);
    for (int i = 0; use == ROW_KEPT && i < 4 * VECTOR_BYTES; i += CACHE_LINE)
        vec_fetch_to_write(rgba + FETCH_TO_WRITE_AHEAD + i);
    if (layout == YUV_PACKED) {
        const uint8_t *from = (luma_first ? row->y : v_first ? row->v : row->u) + 2 * x;
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

// Makes `width` pixels, an even number.
static void make_vectors(const struct yuv_row *row, const struct color_coefficients *k, int width, uint8_t *rgba,
                         enum row_use use)
{
    const bool luma_first = row->y < row->u, v_first = row->v < row->u;
    switch (row->layout) {
    case YUV_GREY:
        make_blocks(row, k, YUV_GREY, true, false, width, rgba, use);
        break;
    case YUV_FULL:
        make_blocks(row, k, YUV_FULL, true, false, width, rgba, use);
        break;
    case YUV_PLANAR:
        make_blocks(row, k, YUV_PLANAR, true, false, width, rgba, use);
        break;
    case YUV_SEMIPLANAR:
        if (v_first)
            make_blocks(row, k, YUV_SEMIPLANAR, true, true, width, rgba, use);
        else
            make_blocks(row, k, YUV_SEMIPLANAR, true, false, width, rgba, use);
        break;
    case YUV_PACKED:
        if (luma_first)
            make_blocks(row, k, YUV_PACKED, true, v_first, width, rgba, use);
        else
            make_blocks(row, k, YUV_PACKED, false, v_first, width, rgba, use);
    }
}

#endif

void VECTORS_NAME(yuv_row_to_rgba)(const struct yuv_row *row, const struct color_coefficients *k, int width,
                                   uint8_t *rgba, enum row_use use)
{
    pixel_word *to = (pixel_word *)rgba;
    int done = 0;
#if VECTOR_BYTES
    if (width >= VECTOR_BYTES) {
        done = width / 2 * 2;
        make_vectors(row, k, done, rgba, use == ROW_STREAMED && (uintptr_t)rgba % VECTOR_BYTES ? ROW_KEPT : use);
    }
#endif
    switch (row->layout) {
    case YUV_GREY:
        make_pixels(row, *k, 1, 0, 0, done, width, to);
        break;
    case YUV_FULL:
        make_pixels(row, *k, 1, 1, 0, done, width, to);
        break;
    case YUV_PLANAR:
        make_pixels(row, *k, 1, 1, 1, done, width, to);
        break;
    case YUV_SEMIPLANAR:
        make_pixels(row, *k, 1, 2, 1, done, width, to);
        break;
    case YUV_PACKED:
        make_pixels(row, *k, 2, 4, 1, done, width, to);
    }
}
