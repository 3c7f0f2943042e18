// row_maps.h: point filters in a processor's own instructions, AVX2's and AVX-512's
#pragma once

#include "base/avx512.h"
#include "filter/filter.h"

#include <stddef.h>
#include <stdint.h>

// ROW_MAP(name, map, wide_map) defines a function of that name, which makes as much of a row as `wide_map` does with
// AVX-512, `map` with AVX2, and returns how much: nothing where there is neither. `numbers` are the filter's own.

#ifdef HAVE_AVX2

// What a point filter makes of 8 pixels, of 16.
typedef __m256i row_map(__m256i pixels, const void *numbers);
typedef __m512i row_wide_map(__m512i pixels, const void *numbers);

#define ROW_COLOURS 0x7777777777777777u // bytes of 16 pixels that are not alpha

// A row of pixels, as many as fit, and how many that is. `map` is a constant, and inlined.
AVX2_INLINE int row_map_avx2(row_map *map, const void *numbers, const uint8_t *from, uint8_t *to, int width, bool past)
{
    enum { LANES = 8 };
    int x = 0;
    for (; x + LANES <= width; x += LANES) {
        if (!past)
            avx2_fetch_to_write(to + 4 * x);
        avx2_store_past(to + 4 * x, map(avx2_load(from + 4 * x), numbers), past);
    }
    return x;
}

// All of a row.
AVX512_INLINE int row_map_avx512(row_wide_map *map, const void *numbers, const uint8_t *from, uint8_t *to, int width,
                                 bool past)
{
    enum { LANES = 16 };
    int x = 0;
    for (; x + LANES <= width; x += LANES) {
        if (!past)
            avx2_fetch_to_write(to + 4 * x);
        avx512_store_past(to + 4 * x, map(avx512_load(from + 4 * x), numbers), past);
    }
    const __mmask16 rest = (__mmask16)((1 << (width - x)) - 1);
    _mm512_mask_storeu_epi32(to + 4 * x, rest, map(_mm512_maskz_loadu_epi32(rest, from + 4 * x), numbers));
    return width;
}

#define ROW_MAP(name, map, wide_map)                                                                                   \
    AVX2 static int name##_avx2(const void *numbers, const uint8_t *from, uint8_t *to, int width, bool past)           \
    {                                                                                                                  \
        return row_map_avx2(map, numbers, from, to, width, past);                                                      \
    }                                                                                                                  \
    AVX512 static int name##_avx512(const void *numbers, const uint8_t *from, uint8_t *to, int width, bool past)       \
    {                                                                                                                  \
        return row_map_avx512(wide_map, numbers, from, to, width, past);                                               \
    }                                                                                                                  \
    static int name(const void *numbers, const uint8_t *from, uint8_t *to, int width, bool past)                       \
    {                                                                                                                  \
        if (avx512_fits(to, width, past))                                                                              \
            return name##_avx512(numbers, from, to, width, past);                                                      \
        return avx2_works() ? name##_avx2(numbers, from, to, width, past) : 0;                                         \
    }

// red R + green G + blue B + added, of 8 pixels; red + green and blue are 255 at most. One factor of the instruction is
// signed: the channel less 128.
AVX2_INLINE __m256i row_weigh_avx2(__m256i pixels, int red, int green, int blue, int added)
{
    const __m256i halves = _mm256_maddubs_epi16(_mm256_set1_epi32(red | green << 8 | blue << 16),
                                                _mm256_xor_si256(pixels, _mm256_set1_epi8(-128)));
    return _mm256_add_epi32(_mm256_madd_epi16(halves, _mm256_set1_epi16(1)),
                            _mm256_set1_epi32(128 * (red + green + blue) + added));
}

// The same of 16 pixels, whatever the weights.
AVX512_INLINE __m512i row_weigh_avx512(__m512i pixels, int red, int green, int blue, int added)
{
    return _mm512_dpbusd_epi32(_mm512_set1_epi32(128 * (red + green + blue) + added),
                               _mm512_set1_epi32(red | green << 8 | blue << 16),
                               _mm512_xor_si512(pixels, _mm512_set1_epi8(-128)));
}

// Rec. 601 luma as docs/pixels.md defines it, in bits 8..15 of each pixel.
AVX2_INLINE __m256i row_luma_avx2(__m256i pixels)
{
    return row_weigh_avx2(pixels, 77, 150, 29, 128);
}

AVX512_INLINE __m512i row_luma_avx512(__m512i pixels)
{
    return row_weigh_avx512(pixels, 77, 150, 29, 128);
}

#else

#define ROW_MAP(name, map, wide_map)                                                                                   \
    static int name(const void *numbers, const uint8_t *from, uint8_t *to, int width, bool past)                       \
    {                                                                                                                  \
        return 0;                                                                                                      \
    }

#endif
