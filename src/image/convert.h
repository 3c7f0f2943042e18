// convert.h: converts images of any pixel format to RGBA and back: docs/pixels.md sections 1, 5 and 6
#pragma once

#include "image/image.h"
#include "image/yuv_rows.h"

// Makes pixels x..x+width-1 of row `y` as RGBA; `x` is even. `coefficients` belong to the image's colour; unused for
// RGB formats.
void convert_row_to_rgba(const struct image *from, const struct color_coefficients *coefficients, int x, int y,
                         int width, uint8_t *rgba, enum row_use use);

// Whole images; `to` is RGBA and of the same size.
void convert_to_rgba(struct image *to, const struct image *from);

struct encoder encoder_init(struct color color); // resolved

// Makes pixels x..x+width-1 of row y from the RGBA row `upper`, and of row y+1 from `lower` (NULL: there is no such
// row). `x` and `y` are even; `width` may be odd only at the right edge.
void encode_rows(const struct encoder *encoder, struct image *to, int x, int y, int width, const uint8_t *upper,
                 const uint8_t *lower);

// Converts the top left of an RGBA image that is at least as large as `to`.
void encode_image(struct image *to, const struct image *rgba);
