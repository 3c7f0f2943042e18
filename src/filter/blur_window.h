// blur_window.h: from the sums of columns, 16 at a time, to the sums of squares, with AVX-512
#pragma once

#include "base/avx512.h"
#include "filter/blur.h"
#include "filter/stencil_avx2.h"

#ifdef HAVE_AVX512

enum { BLOCK = 16, BLOCK_BYTES = 4 * BLOCK, VECTOR_LANES = 32 };

// The sums of 16 columns, or of the squares that begin at them: of the even ones and of the odd ones, four 16-bit lanes
// (channels) each.
struct sums {
    __m512i even, odd;
};

// The blocks of columns that squares reach, from left to right, and the one that was taken last; a small radius needs
// no more than two. Also what several squares share: `twos` are the sums of an odd column and the even one to its
// right, `fours` of two twos, `eights` of four, each of the block that its name begins with.
struct window {
    struct sums first, second, third, fourth, taken;
    __m512i first_twos, second_twos, third_twos, second_fours, first_eights;
    __m512i last; // the last column that the row has
};

static inline bool is_large(int radius)
{
    return radius > BLUR_SMALL_RADIUS;
}

// How far the block that is taken lies ahead of the one whose squares are summed.
static inline int count_ahead(int radius)
{
    return is_large(radius) ? 4 : 2;
}

AVX512_INLINE struct sums add(struct sums one, struct sums other)
{
    return (struct sums){_mm512_add_epi16(one.even, other.even), _mm512_add_epi16(one.odd, other.odd)};
}

AVX512_INLINE struct sums load_sums(const uint16_t *lanes)
{
    return (struct sums){avx512_load(lanes), avx512_load(lanes + VECTOR_LANES)};
}

AVX512_INLINE void store_sums(uint16_t *lanes, struct sums sums)
{
    avx512_store(lanes, sums.even);
    avx512_store(lanes + VECTOR_LANES, sums.odd);
}

// 16 pixels from `at` on, those of them that the row has.
AVX512_INLINE __mmask16 inside(int at, int width)
{
    const __m512i places = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return _mm512_cmplt_epu32_mask(_mm512_add_epi32(places, _mm512_set1_epi32(at)), _mm512_set1_epi32(width));
}

AVX512_INLINE __m512i load_inside(const uint8_t *row, int at, int width)
{
    return _mm512_maskz_loadu_epi32(inside(at, width), row + 4 * at);
}

// Column `column` of a block, to all places.
AVX512_INLINE __m512i spread(struct sums columns, int column)
{
    return _mm512_permutexvar_epi64(_mm512_set1_epi64(column / 2), column % 2 ? columns.odd : columns.even);
}

// Puts a block of columns, the first of which is pixel `at`, into the window. Those beyond the row's ends become what
// the last ones there are.
AVX512_INLINE void take_edge(struct window *window, struct sums columns, int at, int width, int radius)
{
    const int end = width - 1 - at; // the last column of the row
    if (at < 0) {
        const __m512i first = spread(columns, radius);
        columns.even = _mm512_mask_mov_epi64(columns.even, (__mmask8)((1 << (radius + 1) / 2) - 1), first);
        columns.odd = _mm512_mask_mov_epi64(columns.odd, (__mmask8)((1 << radius / 2) - 1), first);
    }
    if (end < 0) {
        columns.even = columns.odd = window->last;
    } else if (end < BLOCK) {
        window->last = spread(columns, end);
        columns.even = _mm512_mask_mov_epi64(columns.even, (__mmask8)(0xff << (end / 2 + 1)), window->last);
        columns.odd = _mm512_mask_mov_epi64(columns.odd, (__mmask8)(0xff << (end + 1) / 2), window->last);
    }
    window->taken = columns;
}

// What is so many places of four lanes further on. `places` is a constant, or becomes one when loops are written out.
AVX512_INLINE __m512i places_on(__m512i vector, __m512i next, int places)
{
    switch (places) {
#define PLACES(count)                                                                                                  \
    case count:                                                                                                        \
        return _mm512_alignr_epi64(next, vector, count);
        PLACES(1)
        PLACES(2)
        PLACES(3)
        PLACES(4)
        PLACES(5)
        PLACES(6)
        PLACES(7)
#undef PLACES
    default:
        return vector;
    }
}

AVX512_INLINE __m512i make_twos(struct sums columns, struct sums next)
{
    return _mm512_add_epi16(columns.odd, places_on(columns.even, next.even, 1));
}

// The window one block further on.
AVX512_INLINE void move(struct window *window, int radius)
{
    window->first = window->second;
    if (!is_large(radius)) {
        window->first_twos = make_twos(window->second, window->taken);
        window->second = window->taken;
        return;
    }
    const __m512i twos = make_twos(window->fourth, window->taken);
    const __m512i fours = _mm512_add_epi16(window->third_twos, places_on(window->third_twos, twos, 1));
    window->first_eights = _mm512_add_epi16(window->second_fours, places_on(window->second_fours, fours, 2));
    window->second_fours = fours;
    window->second_twos = window->third_twos;
    window->third_twos = twos;
    window->second = window->third;
    window->third = window->fourth;
    window->fourth = window->taken;
}

// Of columns that two neighbouring squares share, in twos; `now` is the window one block further on.
AVX512_INLINE __m512i sum_small(const struct window *window, const struct window *now, int radius)
{
    __m512i shared = window->first_twos;
#pragma GCC unroll 7
    for (int i = 1; i < radius; i++)
        shared = _mm512_add_epi16(shared, places_on(window->first_twos, now->first_twos, i));
    return shared;
}

AVX512_INLINE __m512i sum_large(const struct window *window, const struct window *now, int radius)
{
    __m512i shared = _mm512_add_epi16(window->first_eights, places_on(window->first_eights, now->first_eights, 4));
    if (radius & 4)
        shared = _mm512_add_epi16(shared, now->first_eights);
    if (radius & 2)
        shared = _mm512_add_epi16(shared, places_on(window->second_fours, now->second_fours, radius & 4));
    if (radius & 1)
        shared = _mm512_add_epi16(shared, places_on(window->second_twos, window->third_twos, radius & 6));
    return shared;
}

// The sums of the squares that begin in the window's first block, which leaves. A square that begins at an even column
// shares all but its first with the one that begins at the next.
AVX512_INLINE struct sums sum_squares(struct window *window, int radius)
{
    const struct window from = *window;
    move(window, radius);
    const bool large = is_large(radius);
    const __m512i shared = large ? sum_large(&from, window, radius) : sum_small(&from, window, radius);
    const __m512i last = large ? places_on(from.second.odd, from.third.odd, radius - 8)
                               : places_on(from.first.odd, from.second.odd, radius);
    return (struct sums){_mm512_add_epi16(from.first.even, shared), _mm512_add_epi16(last, shared)};
}

#endif
