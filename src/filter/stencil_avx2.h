// stencil_avx2.h: what stencils in AVX2's own instructions share
#pragma once

#include "base/avx2.h"
#include "filter/filter.h"

#include <stddef.h>
#include <stdint.h>

#ifdef HAVE_AVX2

// Asks for the lines of cache at byte `at` of so many of the rows that are read next.
AVX2_INLINE void row_fetch_in(const struct next_rows *next, int count, int at)
{
#pragma GCC unroll 4
    for (int i = 0; i < count; i++)
        avx2_fetch(next->in[i] + at);
}

// And of those that are written next.
AVX2_INLINE void row_fetch_next(const struct next_rows *next, int count, int at)
{
#pragma GCC unroll 4
    for (int i = 0; i < count; i++) {
        avx2_fetch(next->in[i] + at);
        avx2_fetch(next->out[i] + at);
    }
}

// Makes 32 bytes of a stencil of radius 1, from byte `at` on, of the three rows `in`. Neighbours in a row are `step`
// bytes apart: 4, or 1 in grey rows. `numbers` are the filter's own.
typedef __m256i stencil_map(const uint8_t *const *in, int at, int step, const void *numbers);

// What a row of such a stencil needs: copies, since compilers would read it anew behind each store, which might have
// changed it.
struct stencil_row {
    const uint8_t *in[3], *next_in, *next_out;
    uint8_t *out;
    int step, fetched; // so many lines of cache of next_in
};

// A line of cache, from byte `at` on: what is next is asked for by one instruction.
enum { STENCIL_BLOCK = 64 };
AVX2_INLINE void stencil_block_avx2(stencil_map *map, const void *numbers, const struct stencil_row *row, int at)
{
    enum { VECTOR = 32 };
    const __m256i alpha = _mm256_set1_epi32(row->step == 4 ? (int32_t)0xff000000u : 0);
    for (int i = 0; i < row->fetched; i++)
        avx2_fetch(row->next_in + at * row->fetched + STENCIL_BLOCK * i);
    avx2_fetch(row->next_out + at);
#pragma GCC unroll 2
    for (int i = at; i < at + STENCIL_BLOCK; i += VECTOR) {
        const __m256i made = map(row->in, i, row->step, numbers);
        avx2_store(row->out + i, _mm256_blendv_epi8(made, avx2_load(row->in[1] + i), alpha));
    }
}

// A row of such a stencil, if it fills a line of cache. Returns how many bytes it made: all or none. `map` must be a
// constant, so that it is inlined.
AVX2_INLINE int stencil_map_avx2(stencil_map *map, const void *numbers, const struct stencil_rows *rows)
{
    const int bytes = rows->pixel_bytes * rows->width;
    struct stencil_row row = {{rows->in[0], rows->in[1], rows->in[2]},
                              rows->next.in[0],
                              rows->next.out[0],
                              rows->out[0],
                              rows->pixel_bytes,
                              1};
    if (row.step == 1 && row.next_in != row.out) // next_in is always RGBA
        row.fetched = 4;
    if (bytes < STENCIL_BLOCK)
        return 0;
    int i = 0;
    for (; i + STENCIL_BLOCK <= bytes; i += STENCIL_BLOCK)
        stencil_block_avx2(map, numbers, &row, i);
    if (i < bytes) // the last one begins early
        stencil_block_avx2(map, numbers, &row, bytes - STENCIL_BLOCK);
    return bytes;
}

// In each 16-bit lane of three vectors lie two bytes: the sum of their differences (lower less upper), that of the
// middle vector times `weight`.
AVX2_INLINE __m256i row_differ3_avx2(__m256i first, __m256i middle, __m256i last, int weight)
{
    const __m256i differ = _mm256_set1_epi16((int16_t)0xff01); // 1, -1
    const __m256i weigh = _mm256_set1_epi16((int16_t)(weight - 256 * weight));
    return _mm256_add_epi16(_mm256_add_epi16(_mm256_maddubs_epi16(first, differ), _mm256_maddubs_epi16(last, differ)),
                            _mm256_maddubs_epi16(middle, weigh));
}

#endif
