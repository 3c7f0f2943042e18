// convolve.h: what a convolution's rows are made with, and its rows in vectors; convolve.c has their plain twin
#pragma once

#include "filter/filter.h"

// filter_arguments.value. Offset: bias and rounding, added to the sum. Narrow: every weight is in -128..127.
enum { CONVOLVE_SHIFT, CONVOLVE_OFFSET, CONVOLVE_NARROW, CONVOLVE_WEIGHTS };
