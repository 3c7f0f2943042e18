// rgb_rows.h: converts rows of RGB to RGBA, and mirrors rows of RGBA
#pragma once

#include "base/vectors.h"

#include <stdbool.h>
#include <stdint.h>

struct rgb_rows {
    // Makes `width` opaque pixels from 3 bytes per pixel, red or blue first. The rows do not overlap.
    void (*rgb24)(const uint8_t *from, bool blue_first, uint8_t *rgba, int width);
    // Exchanges left and right, from one row to another or in place (from == to).
    void (*mirror)(const uint8_t *from, uint8_t *to, int width);
};
VECTORS_TABLE(const struct rgb_rows, rgb_rows)
