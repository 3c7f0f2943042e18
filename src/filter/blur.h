// blur.h: what the plain, the AVX2 and the AVX-512 rows of blur.c share
#pragma once

#include "filter/filter.h"

enum { BLUR_SMALL_RADIUS = 7 }; // up to here the sums over a square, 225 bytes and their rounding, fit 16 bits

// Radius, factor, shift: sum / area is sum * factor >> 16 >> shift, where the factor is 2^(16 + shift) / area, rounded
// up; exact for every sum (tried for all of them).
#define BLUR_SMALL_RADII(ROW)                                                                                          \
    ROW(1, 58255, 3)                                                                                                   \
    ROW(2, 41944, 4)                                                                                                   \
    ROW(3, 42800, 5)                                                                                                   \
    ROW(4, 51782, 6)                                                                                                   \
    ROW(5, 34664, 6)                                                                                                   \
    ROW(6, 49637, 7)                                                                                                   \
    ROW(7, 37283, 7)

// What column `column` begins with, so that any 2 * radius + 1 columns side by side have half a square's area and
// dividing rounds to nearest.
static inline uint16_t blur_begin_column(int radius, int column)
{
    const int side = 2 * radius + 1, half = side * side / 2, place = column % side;
    return (uint16_t)((place + 1) * half / side - place * half / side);
}

// blur_avx2.c, for a small radius: makes as many pixels of an output row as fit its vectors, from the left, and returns
// how many; always as many for one width. It keeps blur_avx2_bytes() at the start of the scratch.
size_t blur_avx2_bytes(int radius, int width);
int blur_avx2_row(int radius, const struct stencil_rows *rows);

// blur_avx512.c: two whole rows at a time, of any width; where it works, its scratch is blur_avx512_bytes() and all
// that is needed. Pixels beyond the ends of a row are not read.
bool blur_avx512_works(void);
size_t blur_avx512_bytes(int radius, int width);
void blur_avx512_rows(int radius, const struct stencil_rows *rows);
