// convert.h: rows of any pixel format to RGBA: docs/pixels.md section 1
#pragma once

#include "image/image.h"
#include "image/yuv_rows.h"

// Makes pixels x..x+width-1 of row `y` as RGBA; `x` is even. `coefficients` belong to the image's colour; unused for
// RGB formats.
void convert_row_to_rgba(const struct image *from, const struct color_coefficients *coefficients, int x, int y,
                         int width, uint8_t *rgba, enum row_use use);

// Whole images; `to` is RGBA and of the same size.
void convert_to_rgba(struct image *to, const struct image *from);
