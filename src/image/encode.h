// encode.h: converts RGBA to any pixel format: docs/pixels.md sections 5 and 6
#pragma once

#include "image/image.h"

struct encoder {
    struct color_reverse reverse;
    int luma_offset;
};

struct encoder encoder_init(struct color color); // resolved

// Makes pixels x..x+width-1 of row y from `upper`, and of row y+1 from `lower` (NULL: there is no such row).
// `x` and `y` are even; `width` may be odd only at the right edge.
void encode_rows(const struct encoder *encoder, struct image *to, int x, int y, int width, const uint8_t *upper,
                 const uint8_t *lower);

// The top left of an RGBA picture that is at least as large.
void encode_image(struct image *to, const struct image *rgba);
