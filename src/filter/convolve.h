// convolve.h: what a convolution's rows are made with, and its rows in vectors; convolve.c has their plain twin
#pragma once

#include "filter/filter.h"

// filter_arguments.value. Offset: bias and rounding, added to the sum. Narrow: every weight is in -128..127.
enum { CONVOLVE_SHIFT, CONVOLVE_OFFSET, CONVOLVE_NARROW, CONVOLVE_WEIGHTS };

// Whether rows of that width can be made so.
bool convolve_avx2_fits(int width);
bool convolve_avx512_fits(int width);
// As filter.stencil_row; without scratch.
void convolve_avx2_rows(const struct filter_arguments *arguments, const struct stencil_rows *rows);
void convolve_avx512_rows(const struct filter_arguments *arguments, const struct stencil_rows *rows);
