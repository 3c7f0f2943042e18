// histogram.h: histograms of pictures in the host's memory
#pragma once

#include "filter/filter.h"
#include "image/image.h"

// Rows first to end - 1 of a picture with `height` rows.
struct histogram_rows {
    const struct image *rgba; // the picture's rows from `top` on
    int top, height, first, end;
    bool grey;        // the three colours of each pixel are equal
    uint8_t *scratch; // memory for a row
};

// Adds the pixels of these rows to the histograms of the picture's parts.
void histogram_add(const struct counted *counted, const struct histogram_rows *rows, uint32_t (*counts)[FILTER_LEVELS]);
