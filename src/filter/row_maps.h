// row_maps.h: point filters in AVX2's and in AVX-512's own instructions, both from one source
//
// ROW_MAP(name, { body }) defines a function `name`. It makes pixels of a row, beginning on the left, and returns how
// many: the whole row with AVX-512, what fills vectors with AVX2, none where the processor has neither. The filter's
// plain C makes the others.
//
// The body is one vector's work: it returns what becomes of `pixels`, and may read the filter's own `numbers`. It is
// compiled twice: with `vector` as 8 pixels (__m256i) and as 16 (__m512i). `words` and `signed_words` are the same
// vectors for C's operators, which work on each pixel as a 32-bit number. What else it may use stands below BY_WIDTH.
#pragma once

#include "base/avx512.h"
#include "filter/filter.h"

#include <stddef.h>
#include <stdint.h>

#ifdef HAVE_AVX2

typedef __m256i row_map_8(__m256i pixels, const void *numbers);
typedef __m512i row_map_16(__m512i pixels, const void *numbers);

// A row of pixels, as many as fit, and how many that is. `map` is a constant, and inlined.
AVX2_INLINE int row_map_avx2(row_map_8 *map, const void *numbers, const uint8_t *from, uint8_t *to, int width,
                             bool past)
{
    enum { LANES = 8 };
    int x = 0;
    for (; x + LANES <= width; x += LANES) {
        if (past)
            avx2_fetch_once(from + 4 * x);
        else
            avx2_fetch_to_write(to + 4 * x);
        avx2_store_past(to + 4 * x, map(avx2_load(from + 4 * x), numbers), past);
    }
    return x;
}

// All of a row.
AVX512_INLINE int row_map_avx512(row_map_16 *map, const void *numbers, const uint8_t *from, uint8_t *to, int width,
                                 bool past)
{
    enum { LANES = 16 };
    int x = 0;
    for (; x + LANES <= width; x += LANES) {
        if (past)
            avx2_fetch_once(from + 4 * x);
        else
            avx2_fetch_to_write(to + 4 * x);
        avx512_store_past(to + 4 * x, map(avx512_load(from + 4 * x), numbers), past);
    }
    const __mmask16 rest = (__mmask16)((1 << (width - x)) - 1);
    _mm512_mask_storeu_epi32(to + 4 * x, rest, map(_mm512_maskz_loadu_epi32(rest, from + 4 * x), numbers));
    return width;
}

// As ROW_MAP, where the two widths need different instructions: `map_8` and `map_16` are its body.
#define ROW_MAP_APART(name, map_8, map_16)                                                                             \
    AVX2 static int name##_avx2(const void *numbers, const uint8_t *from, uint8_t *to, int width, bool past)           \
    {                                                                                                                  \
        return row_map_avx2(map_8, numbers, from, to, width, past);                                                    \
    }                                                                                                                  \
    AVX512 static int name##_avx512(const void *numbers, const uint8_t *from, uint8_t *to, int width, bool past)       \
    {                                                                                                                  \
        return row_map_avx512(map_16, numbers, from, to, width, past);                                                 \
    }                                                                                                                  \
    static int name(const void *numbers, const uint8_t *from, uint8_t *to, int width, bool past)                       \
    {                                                                                                                  \
        if (avx512_fits(to, width, past))                                                                              \
            return name##_avx512(numbers, from, to, width, past);                                                      \
        return avx2_works() ? name##_avx2(numbers, from, to, width, past) : 0;                                         \
    }

#define ROW_MAP(name, ...)                                                                                             \
    AVX2_INLINE __m256i name##_map_8(__m256i pixels, const void *numbers)                                              \
    {                                                                                                                  \
        typedef __m256i vector;                                                                                        \
        typedef uint32_t words __attribute__((vector_size(32), unused));                                               \
        typedef int32_t signed_words __attribute__((vector_size(32), unused));                                         \
        __VA_ARGS__                                                                                                    \
    }                                                                                                                  \
    AVX512_INLINE __m512i name##_map_16(__m512i pixels, const void *numbers)                                           \
    {                                                                                                                  \
        typedef __m512i vector;                                                                                        \
        typedef uint32_t words __attribute__((vector_size(64), unused));                                               \
        typedef int32_t signed_words __attribute__((vector_size(64), unused));                                         \
        __VA_ARGS__                                                                                                    \
    }                                                                                                                  \
    ROW_MAP_APART(name, name##_map_8, name##_map_16)

#define ROW_COLOURS 0x7777777777777777u // bytes of 16 pixels that are not alpha

// The one of two functions that takes vectors of this one's width.
#define BY_WIDTH(vector, of_8, of_16) _Generic((vector), __m256i : of_8, __m512i : of_16)

// The colours of `made` with the alpha of `pixels`.
AVX2_INLINE __m256i row_colours_8(__m256i made, __m256i pixels)
{
    return _mm256_blendv_epi8(made, pixels, _mm256_set1_epi32((int32_t)0xff000000u));
}

AVX512_INLINE __m512i row_colours_16(__m512i made, __m512i pixels)
{
    return _mm512_mask_mov_epi8(pixels, ROW_COLOURS, made);
}
#define row_colours(made, pixels) BY_WIDTH(pixels, row_colours_8, row_colours_16)(made, pixels)

// `pixels` where they are as large as `others`, byte by byte; 0 elsewhere.
AVX2_INLINE __m256i row_largest_8(__m256i pixels, __m256i others)
{
    return _mm256_and_si256(pixels, _mm256_cmpeq_epi8(pixels, _mm256_max_epu8(pixels, others)));
}

AVX512_INLINE __m512i row_largest_16(__m512i pixels, __m512i others)
{
    return _mm512_maskz_mov_epi8(_mm512_cmpge_epu8_mask(pixels, others), pixels);
}
#define row_largest(pixels, others) BY_WIDTH(pixels, row_largest_8, row_largest_16)(pixels, others)

// red R + green G + blue B + added, of each pixel; red + green and blue are 255 at most. One factor of the instruction
// is signed: the channel less 128.
AVX2_INLINE __m256i row_weigh_8(__m256i pixels, int red, int green, int blue, int added)
{
    const __m256i halves = _mm256_maddubs_epi16(_mm256_set1_epi32(red | green << 8 | blue << 16),
                                                _mm256_xor_si256(pixels, _mm256_set1_epi8(-128)));
    return _mm256_add_epi32(_mm256_madd_epi16(halves, _mm256_set1_epi16(1)),
                            _mm256_set1_epi32(128 * (red + green + blue) + added));
}

AVX512_INLINE __m512i row_weigh_16(__m512i pixels, int red, int green, int blue, int added)
{
    return _mm512_dpbusd_epi32(_mm512_set1_epi32(128 * (red + green + blue) + added),
                               _mm512_set1_epi32(red | green << 8 | blue << 16),
                               _mm512_xor_si512(pixels, _mm512_set1_epi8(-128)));
}
#define row_weigh(pixels, ...) BY_WIDTH(pixels, row_weigh_8, row_weigh_16)(pixels, __VA_ARGS__)

// 256 times the luma that docs/pixels.md defines, rounding added: bits 8..15 of each pixel are the luma.
#define row_luma_256(pixels) row_weigh(pixels, 77, 150, 29, 128)

// The larger bytes of two vectors. Two vectors' numbers of 32 bits as 16 bits in one; of 16 bits as bytes; what does
// not fit becomes the nearest that does. Of each 4 pixels, the bytes at these 16 places.
#define row_max(a, b) BY_WIDTH(a, _mm256_max_epu8, _mm512_max_epu8)(a, b)
#define row_pack_32(a, b) BY_WIDTH(a, _mm256_packs_epi32, _mm512_packs_epi32)(a, b)
#define row_pack_16(a, b) BY_WIDTH(a, _mm256_packus_epi16, _mm512_packus_epi16)(a, b)
#define row_shuffle(bytes, ...)                                                                                        \
    BY_WIDTH(bytes, _mm256_shuffle_epi8, _mm512_shuffle_epi8)                                                          \
    (bytes, BY_WIDTH(bytes, _mm256_broadcastsi128_si256, _mm512_broadcast_i32x4)(_mm_setr_epi8(__VA_ARGS__)))

#else

#define ROW_MAP(name, ...)                                                                                             \
    static int name(const void *numbers, const uint8_t *from, uint8_t *to, int width, bool past)                       \
    {                                                                                                                  \
        return 0;                                                                                                      \
    }
#define ROW_MAP_APART(name, map_8, map_16) ROW_MAP(name)

#endif
