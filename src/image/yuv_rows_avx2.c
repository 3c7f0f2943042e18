// yuv_rows_avx2.c: rows of YUV to RGBA with AVX2
//
// From the plain C of convert.c compilers make code that takes two to four times as long: they find neither saturating
// instructions nor the order of bytes that costs least.
#include "image/yuv_rows.h"

#include "base/avx2.h"

#include <stddef.h>

#ifdef HAVE_AVX2

enum { BLOCK = 32 }; // pixels

// Of 16 pixels, in 16-bit lanes: luma << 7, negative, and (sample - 128) << 8. Pixels 0..3 and 8..11 are in the lower
// half, 4..7 and 12..15 in the upper half, so that bytes interleaved within halves become pixels side by side.
struct samples {
    __m256i luma, u, v;
};

// docs/pixels.md section 1, in every lane.
struct coefficients {
    __m256i minus_cy, bias, rv, gu, gv, bu;
};

struct channels {
    __m256i red, green, blue;
};

AVX2_INLINE struct coefficients spread(const struct color_coefficients *k)
{
    return (struct coefficients){
        .minus_cy = _mm256_set1_epi16((int16_t)-k->cy),
        .bias = _mm256_set1_epi16((int16_t)k->bias),
        .rv = _mm256_set1_epi16((int16_t)k->rv),
        .gu = _mm256_set1_epi16((int16_t)k->gu),
        .gv = _mm256_set1_epi16((int16_t)k->gv),
        .bu = _mm256_set1_epi16((int16_t)k->bu),
    };
}

// Where the bytes of a row's lanes are: those of luma, U and V in what is loaded for 16 pixels.
struct order {
    __m256i luma, u, v;
};

// A shuffle that puts bytes in the upper halves of lanes, zeros in the lower ones. PLACES: from 16 bytes that lie in
// both halves, numbered as the pixels, of which 1 << shift share one.
#define UPPER(byte) -1, (byte)
#define UPPERS(a, b, c, d, e, f, g, h) UPPER(a), UPPER(b), UPPER(c), UPPER(d), UPPER(e), UPPER(f), UPPER(g), UPPER(h)
#define PLACES(shift, step)                                                                                            \
    _mm256_setr_epi8(UPPERS(0, (1 >> shift) * step, (2 >> shift) * step, (3 >> shift) * step, (8 >> shift) * step,     \
                            (9 >> shift) * step, (10 >> shift) * step, (11 >> shift) * step),                          \
                     UPPERS((4 >> shift) * step, (5 >> shift) * step, (6 >> shift) * step, (7 >> shift) * step,        \
                            (12 >> shift) * step, (13 >> shift) * step, (14 >> shift) * step, (15 >> shift) * step))
#define PAIR_PLACES                                                                                                    \
    _mm256_setr_epi8(UPPERS(0, 0, 4, 4, 8, 8, 12, 12), UPPERS(0, 0, 4, 4, 8, 8, 12, 12)) // of two packed pixels

// The same `by` bytes further on.
AVX2_INLINE __m256i move_places(__m256i places, ptrdiff_t by)
{
    return _mm256_add_epi8(places, _mm256_set1_epi16((int16_t)(by << 8)));
}

AVX2_INLINE struct order find_order(const struct yuv_row *row, enum yuv_layout layout, const uint8_t *pairs)
{
    if (layout == YUV_PACKED) // luma is where it belongs; times -128 or 0
        return (struct order){_mm256_set1_epi16(row->y == pairs ? 0x0080 : (int16_t)0x8000),
                              move_places(PAIR_PLACES, row->u - pairs), move_places(PAIR_PLACES, row->v - pairs)};
    if (layout == YUV_SEMIPLANAR)
        return (struct order){PLACES(0, 1), move_places(PLACES(1, 2), row->u - pairs),
                              move_places(PLACES(1, 2), row->v - pairs)};
    if (layout == YUV_PLANAR)
        return (struct order){PLACES(0, 1), PLACES(1, 1), PLACES(1, 1)};
    return (struct order){PLACES(0, 1), PLACES(0, 1), PLACES(0, 1)};
}

// The same 8 bytes in all quarters.
AVX2_INLINE __m256i load8(const uint8_t *from)
{
    return _mm256_broadcastq_epi64(_mm_loadl_epi64((const __m128i *)from));
}

AVX2_INLINE __m256i place_chroma(__m256i bytes, __m256i places)
{
    return _mm256_shuffle_epi8(_mm256_xor_si256(bytes, _mm256_set1_epi8(-128)), places);
}

// Pixels x..x+15; `layout` is a constant where this is inlined, `pairs` where pairs of samples begin.
AVX2_INLINE struct samples load_samples(const struct yuv_row *row, enum yuv_layout layout, const struct order *order,
                                        const uint8_t *pairs, int x)
{
    if (layout == YUV_PACKED) {
        const uint8_t *from = pairs + 2 * x;
        const __m256i all = avx2_load(from), middle = avx2_load_twice(from + 8);
        const __m256i parted = _mm256_blend_epi32(all, middle, 0x3c); // quarters 0, 2, 1, 3
        return (struct samples){_mm256_maddubs_epi16(parted, order->luma), place_chroma(parted, order->u),
                                place_chroma(parted, order->v)};
    }
    __m256i u, v;
    if (layout == YUV_GREY)
        u = v = _mm256_setzero_si256(); // and not looked at
    else if (layout == YUV_SEMIPLANAR)
        u = v = avx2_load_twice(pairs + x);
    else if (layout == YUV_PLANAR)
        u = load8(row->u + x / 2), v = load8(row->v + x / 2);
    else
        u = avx2_load_twice(row->u + x), v = avx2_load_twice(row->v + x);
    const __m256i luma = _mm256_shuffle_epi8(avx2_load_twice(row->y + x), order->luma);
    return (struct samples){_mm256_maddubs_epi16(luma, _mm256_set1_epi16((int16_t)0x8000)), place_chroma(u, order->u),
                            place_chroma(v, order->v)};
}

// Upper 11 bits of 16: >> 5 as a product, since shifts are scarcer.
AVX2_INLINE __m256i scale_down(__m256i value)
{
    return _mm256_mulhi_epi16(value, _mm256_set1_epi16(1 << (16 - 5)));
}

// docs/pixels.md section 1, to be saturated.
AVX2_INLINE struct channels mix(const struct samples *s, const struct coefficients *k, enum yuv_layout layout)
{
    const __m256i luma = _mm256_add_epi16(_mm256_mulhi_epi16(s->luma, k->minus_cy), k->bias);
    if (layout == YUV_GREY) {
        const __m256i grey = scale_down(luma);
        return (struct channels){grey, grey, grey};
    }
    const __m256i green = _mm256_add_epi16(_mm256_mulhi_epi16(s->u, k->gu), _mm256_mulhi_epi16(s->v, k->gv));
    return (struct channels){
        .red = scale_down(_mm256_add_epi16(luma, _mm256_mulhi_epi16(s->v, k->rv))),
        .green = scale_down(_mm256_sub_epi16(luma, green)),
        .blue = scale_down(_mm256_add_epi16(luma, _mm256_mulhi_epi16(s->u, k->bu))),
    };
}

// `a` is of pixels 0..15, `b` of 16..31.
AVX2_INLINE void store_block(const struct channels *a, const struct channels *b, uint8_t *rgba, enum convert_into into)
{
    const __m256i red = _mm256_packus_epi16(a->red, b->red), green = _mm256_packus_epi16(a->green, b->green);
    const __m256i blue = _mm256_packus_epi16(a->blue, b->blue), alpha = _mm256_set1_epi8(-1);
    const __m256i rg0 = _mm256_unpacklo_epi8(red, green), rg1 = _mm256_unpackhi_epi8(red, green);
    const __m256i ba0 = _mm256_unpacklo_epi8(blue, alpha), ba1 = _mm256_unpackhi_epi8(blue, alpha);
    const bool past = into == CONVERT_PAST_CACHES;
    if (!past) {
        avx2_fetch_to_write(rgba);
        avx2_fetch_to_write(rgba + 64);
    }
    avx2_store_past(rgba, _mm256_unpacklo_epi16(rg0, ba0), past);
    avx2_store_past(rgba + 32, _mm256_unpackhi_epi16(rg0, ba0), past);
    avx2_store_past(rgba + 64, _mm256_unpacklo_epi16(rg1, ba1), past);
    avx2_store_past(rgba + 96, _mm256_unpackhi_epi16(rg1, ba1), past);
}

AVX2_INLINE int make_row(const struct yuv_row *row, const struct color_coefficients *k, enum yuv_layout layout,
                         int width, uint8_t *rgba, enum convert_into into)
{
    const struct coefficients everywhere = spread(k);
    const uint8_t *chroma = row->u < row->v ? row->u : row->v;
    const uint8_t *pairs = layout == YUV_PACKED && row->y < chroma ? row->y : chroma;
    const struct order order = find_order(row, layout, pairs);
    const int even = width / 2 * 2;
    if (even < BLOCK)
        return 0;
    for (int x = 0; x < even; x += BLOCK) {
        const int at = x + BLOCK <= even ? x : even - BLOCK; // the last block may begin early
        const struct samples left = load_samples(row, layout, &order, pairs, at);
        const struct samples right = load_samples(row, layout, &order, pairs, at + BLOCK / 2);
        const struct channels a = mix(&left, &everywhere, layout), b = mix(&right, &everywhere, layout);
        store_block(&a, &b, rgba + 4 * at, into);
    }
    return even;
}

YUV_MAKE_ANY_ROW(AVX2)
#endif

int yuv_row_vector(const struct yuv_row *row, const struct color_coefficients *k, int width, uint8_t *rgba,
                   enum convert_into into)
{
    const int done = yuv_row_avx512(row, k, width, rgba, into);
    return done > 0 ? done : AVX2_MADE(make_any_row(row, k, width, rgba, into));
}
