// encode.h: RGBA into any pixel format, chroma averaged: how the test pattern and converted pictures are made
#pragma once

#include "source/source.h"

struct encoder {
    struct color_reverse reverse;
    int luma_offset;
};

struct encoder encoder_init(struct color color); // resolved

// Pixels x..x+width-1 of row y, from `upper`, and of row y+1, from `lower`, which is NULL where there is no such row.
// `x` and `y` are even; `width` may be odd only at the right edge.
void encode_rows(const struct encoder *encoder, struct image *to, int x, int y, int width, const uint8_t *upper,
                 const uint8_t *lower);

// A whole RGBA picture into one of the same size.
void encode_image(struct image *to, const struct image *rgba);

// Brings an RGBA picture (own pixels) to the format the user wants, if any, and settles its colour. False on failure
// (logged with `name`).
bool encode_as_wanted(struct image *image, const struct source_setup *setup, const char *name);
