// png_filter.h: the row filters of PNG (PNG specification, section 9)
#pragma once

#include "base/vectors.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { PNG_FILTER_BEST = -1 };

// A row has `bytes` bytes. A pixel has `step` bytes (1 if it is smaller than a byte).
struct png_filter {
    // Restores a filtered row. `before` is the row above, zeros above the first row. `to` may be `from`. Reads up to 3
    // bytes behind `from` and `before`. Returns false for an unknown filter.
    bool (*undo)(int filter, uint8_t *to, const uint8_t *from, const uint8_t *before, size_t bytes, int step);
    // Writes the filter's number and the filtered row. Also reads `step` bytes in front of `row` and `before`, which
    // must be zeros. PNG_FILTER_BEST: the filter with the smallest sum of absolute values of signed bytes.
    void (*apply)(int filter, uint8_t *to, const uint8_t *row, const uint8_t *before, size_t bytes, int step);
};
VECTORS_TABLE(const struct png_filter, png_filter)
