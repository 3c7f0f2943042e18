// yuv_rows_avx512.c: rows of YUV to RGBA with AVX-512
//
// 64 pixels a step: the even ones in the 16-bit lanes of one vector, the odd ones in another's, so that two pixels
// share the products of their chroma. Permutations of bytes then fetch them in order from wherever they are.
#include "image/yuv_rows.h"

#include "base/avx512.h"

#ifdef HAVE_AVX512

enum { BLOCK = 64, LINES = 4, FETCH_AHEAD = 2048, FETCH_TO_WRITE_AHEAD = 6144 }; // pixels, lines of cache, bytes

// docs/pixels.md section 1, in every lane. The first sample of chroma is the one that lies first.
struct numbers {
    __m512i even_luma, odd_luma; // -128 for the byte that is luma, 0 for the other one
    __m512i minus_cy, bias, first, first_green, second, second_green;
    __m512i places[LINES];
    __mmask64 of_first, of_others; // a line's bytes: what the first sample makes; green and what the second makes
    bool luma_below;               // chroma, in packed pixels
    const uint8_t *luma, *chroma[2];
};

// What is in the lanes of even and of odd pixels.
struct pairs {
    __m512i even, odd;
};

// What chroma adds to the channel that the first sample makes, to the one of the second, and takes from green.
struct chroma {
    __m512i first, second, green;
};

// Where the bytes of lines are once they are packed, 8 even pixels ahead of their 8 neighbours; those of green are 64
// further on, alpha is here. Packed formats have their first 16 pairs of pixels in even lanes, the others in odd ones.
#define PLACE(at) ((at)*0x010101u + 0xff004000u)
#define PAIR(at) PLACE(at), PLACE((at) + 8)
#define HALF(at, step) PAIR(at), PAIR((at) + step), PAIR((at) + 2 * step), PAIR((at) + 3 * step)
#define LINE(at, step)                                                                                                 \
    {                                                                                                                  \
        HALF(at, step), HALF((at) + (step == 1 ? 4 : 16), step)                                                        \
    }
static const uint32_t in_order[LINES][16] = {LINE(0, 1), LINE(16, 1), LINE(32, 1), LINE(48, 1)};
static const uint32_t in_turns[LINES][16] = {LINE(0, 2), LINE(32, 2), LINE(1, 2), LINE(33, 2)};

AVX512_INLINE __m512i spread(int value)
{
    return _mm512_set1_epi16((int16_t)value);
}

AVX512_INLINE struct numbers find_numbers(const struct yuv_row *row, enum yuv_layout layout,
                                          const struct color_coefficients *k)
{
    const bool packed = layout == YUV_PACKED, luma_below = row->y < row->u;
    const bool v_first = row->v < row->u;
    struct numbers numbers = {
        .even_luma = spread(!packed || luma_below ? 0x0080 : 0x8000),
        .odd_luma = spread(packed && luma_below ? 0x0080 : 0x8000),
        .minus_cy = spread(-k->cy),
        .bias = spread(k->bias),
        .first = spread(v_first ? k->rv : k->bu),
        .first_green = spread(v_first ? k->gv : k->gu),
        .second = spread(v_first ? k->bu : k->rv),
        .second_green = spread(v_first ? k->gu : k->gv),
        .of_first = v_first ? 0x1111111111111111u : 0x4444444444444444u,
        .of_others = v_first ? 0x6666666666666666u : 0x3333333333333333u,
        .luma_below = luma_below,
        .luma = packed && !luma_below ? row->u : row->y,
        .chroma = {v_first ? row->v : row->u, v_first ? row->u : row->v},
    };
    for (int i = 0; i < LINES; i++)
        numbers.places[i] = avx512_load(packed ? in_turns[i] : in_order[i]);
    return numbers;
}

// Has the samples fetched that are needed in a while: of the next row, mostly.
AVX512_INLINE void fetch_samples(const struct numbers *k, enum yuv_layout layout, int x)
{
    const int luma_bytes = layout == YUV_PACKED ? 2 : 1, chroma_shift = layout == YUV_PLANAR ? 1 : 0;
    for (int i = 0; i < luma_bytes; i++)
        __builtin_prefetch(k->luma + luma_bytes * x + 64 * i + FETCH_AHEAD, 0, 3);
    for (int i = 0; i < 2 && layout != YUV_GREY && layout != YUV_PACKED; i++)
        __builtin_prefetch(k->chroma[i] + ((x + FETCH_AHEAD) >> chroma_shift), 0, 3);
}

// (sample - 128) << 8, of samples in the lower or the upper halves of lanes.
AVX512_INLINE __m512i lower(__m512i lanes)
{
    return _mm512_xor_si512(_mm512_slli_epi16(lanes, 8), spread(0x8000));
}

AVX512_INLINE __m512i upper(__m512i lanes)
{
    return _mm512_and_si512(_mm512_xor_si512(lanes, spread(0x8000)), spread(0xff00));
}

// The bytes that luma is among, at pixel x.
AVX512_INLINE struct pairs load_luma(const struct numbers *k, enum yuv_layout layout, int x)
{
    if (layout != YUV_PACKED) {
        const __m512i luma = avx512_load(k->luma + x);
        return (struct pairs){luma, luma};
    }
    const uint8_t *from = k->luma + 2 * x; // pairs 0..15 in half of the lanes, then 16..31
    return (struct pairs){_mm512_mask_loadu_epi16(avx512_load(from), 0xaaaaaaaau, from + 62),
                          _mm512_mask_loadu_epi16(avx512_load(from + 64), 0x55555555u, from + 2)};
}

// Samples of chroma in turns, of 32 pairs of pixels.
AVX512_INLINE __m512i load_chroma(const struct numbers *k, enum yuv_layout layout, int x)
{
    if (layout == YUV_SEMIPLANAR)
        return avx512_load(k->chroma[0] + x);
    const __m512i first = _mm512_cvtepu8_epi16(avx2_load(k->chroma[0] + x / 2));
    const __m512i second = _mm512_cvtepu8_epi16(avx2_load(k->chroma[1] + x / 2));
    return _mm512_or_si512(first, _mm512_slli_epi16(second, 8));
}

AVX512_INLINE struct chroma weigh(__m512i first, __m512i second, const struct numbers *k)
{
    return (struct chroma){
        _mm512_mulhi_epi16(first, k->first), _mm512_mulhi_epi16(second, k->second),
        _mm512_add_epi16(_mm512_mulhi_epi16(first, k->first_green), _mm512_mulhi_epi16(second, k->second_green))};
}

// `luma` is what load_luma gave. Even and odd pixels share what they can.
AVX512_INLINE void make_chroma(const struct numbers *k, enum yuv_layout layout, const struct pairs *luma, int x,
                               struct chroma *even, struct chroma *odd)
{
    if (layout == YUV_FULL) {
        const __m512i first = avx512_load(k->chroma[0] + x), second = avx512_load(k->chroma[1] + x);
        *even = weigh(lower(first), lower(second), k);
        *odd = weigh(upper(first), upper(second), k);
    } else if (layout == YUV_PACKED) {
        *even = *odd = k->luma_below ? weigh(upper(luma->even), upper(luma->odd), k)
                                     : weigh(lower(luma->even), lower(luma->odd), k);
    } else {
        const __m512i both = load_chroma(k, layout, x);
        *even = *odd = weigh(lower(both), upper(both), k);
    }
}

// A channel's bytes, of 5 bits too many.
AVX512_INLINE __m512i pack(__m512i even, __m512i odd)
{
    return _mm512_packus_epi16(_mm512_srai_epi16(even, 5), _mm512_srai_epi16(odd, 5));
}

// A picture's memory is asked for as by avx2_fetch_to_write, but into the first level of cache, and earlier.
AVX512_INLINE void store_line(uint8_t *to, __m512i value, enum convert_into into)
{
    if (into == CONVERT_INTO_MEMORY)
        __builtin_prefetch(to + FETCH_TO_WRITE_AHEAD, 1, 3);
    avx512_store_past(to, value, into == CONVERT_PAST_CACHES);
}

AVX512_INLINE void make_block(const struct numbers *k, enum yuv_layout layout, int x, uint8_t *rgba,
                              enum convert_into into)
{
    if (into == CONVERT_INTO_CACHE)
        fetch_samples(k, layout, x);
    const struct pairs bytes = load_luma(k, layout, x);
    const __m512i even =
        _mm512_add_epi16(_mm512_mulhi_epi16(_mm512_maddubs_epi16(bytes.even, k->even_luma), k->minus_cy), k->bias);
    const __m512i odd =
        _mm512_add_epi16(_mm512_mulhi_epi16(_mm512_maddubs_epi16(bytes.odd, k->odd_luma), k->minus_cy), k->bias);
    if (layout == YUV_GREY) {
        const __m512i grey = pack(even, odd), *at = k->places;
        for (int i = 0; i < LINES; i++)
            store_line(rgba + 64 * i, _mm512_mask_permutexvar_epi8(at[i], k->of_first | k->of_others, at[i], grey),
                       into);
        return;
    }
    struct chroma a, b;
    make_chroma(k, layout, &bytes, x, &a, &b);
    const __m512i first = pack(_mm512_add_epi16(even, a.first), _mm512_add_epi16(odd, b.first));
    const __m512i second = pack(_mm512_add_epi16(even, a.second), _mm512_add_epi16(odd, b.second));
    const __m512i green = pack(_mm512_sub_epi16(even, a.green), _mm512_sub_epi16(odd, b.green));
    for (int i = 0; i < LINES; i++) {
        const __m512i others = _mm512_mask2_permutex2var_epi8(second, k->places[i], k->of_others, green);
        store_line(rgba + 64 * i, _mm512_mask_permutexvar_epi8(others, k->of_first, k->places[i], first), into);
    }
}

AVX512_INLINE int make_row(const struct yuv_row *row, const struct color_coefficients *k, enum yuv_layout layout,
                           int width, uint8_t *rgba, enum convert_into into)
{
    const struct numbers numbers = find_numbers(row, layout, k);
    const int even = width / 2 * 2;
    for (int x = 0; x < even; x += BLOCK) {
        const int at = x + BLOCK <= even ? x : even - BLOCK; // the last block may begin early
        make_block(&numbers, layout, at, rgba + 4 * at, into);
    }
    return even;
}

YUV_MAKE_ANY_ROW(AVX512)

int yuv_row_avx512(const struct yuv_row *row, const struct color_coefficients *k, int width, uint8_t *rgba,
                   enum convert_into into)
{
    return width >= BLOCK && avx512_fits(rgba, width, into == CONVERT_PAST_CACHES)
               ? make_any_row(row, k, width, rgba, into)
               : 0;
}

#else

int yuv_row_avx512(const struct yuv_row *row, const struct color_coefficients *k, int width, uint8_t *rgba,
                   enum convert_into into)
{
    return 0;
}

#endif
