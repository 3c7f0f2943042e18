// convert.h: rows of any pixel format to RGBA and back, in plain C that vectorises: docs/pixels.md sections 1 and 5
#pragma once

#include "image/image.h"

// Pixels 0..width-1 of row `y` as RGBA. `coefficients` belong to the image's colour; unused for RGB formats.
void convert_row_to_rgba(const struct image *from, const struct color_coefficients *coefficients, int y, uint8_t *rgba);

// One row of RGBA to full-chroma Y, U, V.
void convert_row_to_444p(const uint8_t *rgba, int width, const struct color_reverse *reverse, uint8_t *y, uint8_t *u,
                         uint8_t *v);

// Whole pictures; `to` is RGBA and of the same size.
void convert_to_rgba(struct image *to, const struct image *from);
