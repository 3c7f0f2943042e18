// histogram.h: histograms of pictures in the host's memory
#pragma once

#include "filter/filter.h"
#include "image/image.h"

// Adds the luma of rows first to end - 1 of an RGBA picture to `counts`. `grey`: the three colours of each pixel are
// equal. `row`: scratch memory for a row.
void histogram_add(const struct image *rgba, int first, int end, bool grey, uint8_t *row,
                   uint32_t counts[FILTER_LEVELS]);
