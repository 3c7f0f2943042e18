// stencil_avx2.h: what stencils in AVX2's own instructions share
#pragma once

#include "base/avx2.h"
#include "filter/filter.h"

#include <stddef.h>
#include <stdint.h>

#ifdef HAVE_AVX2

// Asks for the lines of cache at byte `at` of so many of these rows.
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

// A row of such a stencil, if it fills a line of cache. Returns how many bytes it made: all or none. `map` must be a
// constant, so that it is inlined.
AVX2_INLINE int stencil_map_avx2(stencil_map *map, const void *numbers, const struct stencil_rows *rows)
{
    enum { VECTOR = 32, BLOCK = 64 }; // bytes; a block is a line of cache, fetched ahead by one instruction
    // Copies of what the loop needs: compilers would read it anew behind each store, which might have changed it.
    const int step = rows->pixel_bytes, bytes = step * rows->width;
    const __m256i alpha = _mm256_set1_epi32(step == 4 ? (int32_t)0xff000000u : 0);
    const uint8_t *const in[3] = {rows->in[0], rows->in[1], rows->in[2]}, *next_in = rows->next.in[0];
    const uint8_t *next_out = rows->next.out[0];
    uint8_t *out = rows->out[0];
    const int reach = step == 1 && next_in != out ? 4 : 1; // next_in is always RGBA
    if (bytes < BLOCK)
        return 0;
    for (int done = 0; done < bytes; done += BLOCK) {
        const int i = done + BLOCK <= bytes ? done : bytes - BLOCK; // the last block may begin early
        for (int k = 0; k < reach; k++)
            avx2_fetch(next_in + i * reach + BLOCK * k);
        avx2_fetch(next_out + i);
#pragma GCC unroll 2
        for (int at = i; at < i + BLOCK; at += VECTOR) {
            const __m256i made = map(in, at, step, numbers);
            avx2_store(out + at, _mm256_blendv_epi8(made, avx2_load(in[1] + at), alpha));
        }
    }
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
