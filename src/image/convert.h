// convert.h: rows of any pixel format to RGBA: docs/pixels.md section 1
#pragma once

#include "image/image.h"

// Where a converted row goes: what is waited for, and so asked for ahead, is the samples or the memory for pixels.
enum convert_into {
    CONVERT_INTO_CACHE,  // a line that is used over and over
    CONVERT_INTO_MEMORY, // a picture
    CONVERT_PAST_CACHES, // a picture, where that can be (base/avx2.h has what `rgba` must be then)
};

// Pixels 0..width-1 of row `y` as RGBA. `coefficients` belong to the image's colour; unused for RGB formats.
void convert_row_to_rgba(const struct image *from, const struct color_coefficients *coefficients, int y, uint8_t *rgba,
                         enum convert_into into);

// Whole pictures; `to` is RGBA and of the same size.
void convert_to_rgba(struct image *to, const struct image *from);
