// blur.h: what blur's rows in plain C, in AVX2 and in AVX-512 share
#pragma once

#include "filter/filter.h"

enum { BLUR_SMALL_RADIUS = 7 }; // up to here the sums over a square, 225 bytes and their rounding, fit 16 bits

// A row for each small radius: radius, factor, shift. Dividing by the square's area is multiplying and shifting:
// sum / area == sum * factor >> 16 >> shift, where the factor is 2^(16 + shift) / area, rounded up. This is exact for
// every sum that can be (all of them were tried).
#define BLUR_SMALL_RADII(ROW)                                                                                          \
    ROW(1, 58255, 3)                                                                                                   \
    ROW(2, 41944, 4)                                                                                                   \
    ROW(3, 42800, 5)                                                                                                   \
    ROW(4, 51782, 6)                                                                                                   \
    ROW(5, 34664, 6)                                                                                                   \
    ROW(6, 49637, 7)                                                                                                   \
    ROW(7, 37283, 7)

// What the sum of column `column` begins with, instead of 0. Any 2 * radius + 1 columns side by side then have half a
// square's area more than their pixels, so that dividing rounds to the nearest instead of down.
static inline uint16_t blur_begin_column(int radius, int column)
{
    const int side = 2 * radius + 1, half = side * side / 2, place = column % side;
    return (uint16_t)((place + 1) * half / side - place * half / side);
}

// blur_avx2.c, for a small radius: makes as many pixels of an output row as fill its vectors, from the left, and
// returns how many: the same number for every row of one width. The first blur_avx2_bytes() of the scratch memory are
// its own.
size_t blur_avx2_bytes(int radius, int width);
int blur_avx2_row(int radius, const struct stencil_rows *rows);

// blur_avx512.c, for every radius and width: makes two whole rows at a time, in blur_avx512_bytes() of scratch memory,
// and nothing else is needed where it works. It never reads beyond the ends of a row.
bool blur_avx512_works(void);
size_t blur_avx512_bytes(int radius, int width);
void blur_avx512_rows(int radius, const struct stencil_rows *rows);
