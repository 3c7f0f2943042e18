// rows.h: what the filters' CPU row functions share
#pragma once

#include "base/clones.h"
#include "filter/filter.h"

#include <stddef.h>
#include <stdint.h>

// Rec. 601 luma as docs/pixels.md defines it.
//
// Sums in the upper half of a word, so that two products come from one multiplication: with red in the lower and blue
// in the upper half, 77 << 16 | 29 gives 77 R + 29 B above.
static inline uint32_t row_luma(uint32_t pixel)
{
    return ((pixel & 0x00ff00ffu) * (77u << 16 | 29) + (pixel & 0xff00u) * (150u << 8) + (128u << 16)) >> 24;
}

// Vector code takes a row as pairs of bytes, and the even and the odd bytes apart by a mask and a shift: making each
// byte a lane of 16 bits would move bytes about. A pixel is two pairs.

// Which bits of pairs are alpha, for as many pairs as a loop may take at a time.
enum { ROW_CHUNK = 512 };
extern const pixel_word row_alpha[ROW_CHUNK / 2];

// Even and odd bytes side by side again, alpha from the centre.
static inline byte_pair row_join(uint16_t even, uint16_t odd, byte_pair centre, byte_pair alpha)
{
    return (byte_pair)(((even | odd << 8) & ~alpha) | (centre & alpha));
}

// The same rows without the first `count` of those that are made.
struct stencil_rows rows_below(const struct stencil_rows *rows, int count);

// Copies alpha to what a stencil of radius 1 has made: from pixel `first` on, to rows->out[number], from
// the pixels at the squares' centres. Grey rows have none.
void row_copy_alpha(const struct stencil_rows *rows, int number, int first);

// From RGBA that is grey to one byte a pixel, and back. Alpha is then that of the RGBA pixels at `alpha`; NULL: 255.
void row_to_grey(const uint8_t *rgba, uint8_t *grey, int width);
void row_from_grey(const uint8_t *grey, const uint8_t *alpha, uint8_t *rgba, int width);
