// convert.h: rows of any pixel format to RGBA: docs/pixels.md section 1
#pragma once

#include "image/image.h"

// Pixels 0..width-1 of row `y` as RGBA. `coefficients` belong to the image's colour; unused for RGB formats. `past`:
// past the caches where that can be (base/avx2.h has what `rgba` must be then).
void convert_row_to_rgba(const struct image *from, const struct color_coefficients *coefficients, int y, uint8_t *rgba,
                         bool past);

// Whole pictures; `to` is RGBA and of the same size.
void convert_to_rgba(struct image *to, const struct image *from);
