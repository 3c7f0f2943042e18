// png_filter.h: filtered rows of PNG (PNG specification, section 9)
#pragma once

#include "base/vectors.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PNG_FILTER_BEST = -1 };

// Rows have `bytes` bytes. A pixel has `step` bytes (1 if it has less than a byte).
struct png_filter {
    // Restores a filtered row. `before` is the row above, or zeros for the first row. `to` may be `from`. Reads up to 3
    // bytes beyond the end of `from` and `before`. Returns false if no filter has this number.
    bool (*undo)(int filter, uint8_t *to, const uint8_t *from, const uint8_t *before, size_t bytes, int step);
    // Writes the filter's number and the filtered row: 1 + bytes. Also reads `step` bytes in front of `row` and of
    // `before`, which must be zeros. PNG_FILTER_BEST: the filter with the smallest sum of absolute values, bytes taken
    // as signed.
    void (*apply)(int filter, uint8_t *to, const uint8_t *row, const uint8_t *before, size_t bytes, int step);
};
VECTORS_TABLE(const struct png_filter, png_filter)
