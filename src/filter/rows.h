// rows.h: what the CPU row functions share
#pragma once

#include "base/clones.h"

#include <stddef.h>
#include <stdint.h>

static inline int row_sat8(int value)
{
    return value < 0 ? 0 : value > 255 ? 255 : value;
}

// Rec. 601 luma as docs/pixels.md defines it.
static inline int row_luma(const uint8_t *p)
{
    return (77 * p[0] + 150 * p[1] + 29 * p[2] + 128) >> 8;
}

// Gives an output row the alpha of its centre row.
void row_copy_alpha(uint8_t *restrict rgba, const uint8_t *restrict centre, int width);
