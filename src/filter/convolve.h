// convolve.h: the order of convolve's arguments
#pragma once

#include "filter/filter.h"

// filter_arguments.value. Offset: bias and rounding, added to the sum. Narrow: every weight is in -128..127.
enum { CONVOLVE_SHIFT, CONVOLVE_OFFSET, CONVOLVE_NARROW, CONVOLVE_WEIGHTS };
