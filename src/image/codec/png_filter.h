// png_filter.h: filtered rows of PNG (PNG specification, section 9)
#pragma once

#include "base/vectors.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PNG_FILTER_BEST = -1 };

// Rows have `bytes` bytes, of pixels of `step` bytes (1 if a pixel has less).
struct png_filter {
    // Restores a filtered row. `before` is the row above, zeros for the first row. `to` may be `from`. Reads up to 3
    // bytes behind `from` and `before`. Returns false if there is no such filter.
    bool (*undo)(int filter, uint8_t *to, const uint8_t *from, const uint8_t *before, size_t bytes, int step);
    // Makes a filtered row, the filter's number before it: 1 + bytes. Reads `row` and `before` from `step` bytes before
    // their start, where zeros are. PNG_FILTER_BEST: the filter with the least sum of bytes as signed ones.
    void (*apply)(int filter, uint8_t *to, const uint8_t *row, const uint8_t *before, size_t bytes, int step);
};
VECTORS_TABLE(const struct png_filter, png_filter)
