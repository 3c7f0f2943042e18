// rows_taps.c: rows of a warp by taps; compiled once per instruction set
#include "filter/rows.h"

#include "base/vector.h"
#include "filter/filter_kernels.h"
#include "filter/warp.h"

enum { PART = 1024 }; // bytes of a row

static void take_columns(const int32_t *tap, int count, const struct warp_source *from, int width, uint8_t *to)
{
    for (int first = 0; first < 4 * width; first += PART) {
        const int bytes = 4 * width - first < PART ? 4 * width - first : PART;
        int32_t sum[PART];
        for (int b = 0; b < bytes; b++)
            sum[b] = TAPS_HALF;
        for (int i = 0; i < count; i++) {
            const uint8_t *restrict row =
                from->pixels + (size_t)clamp(tap[0] + i, 0, from->height - 1) * from->stride + first;
            const int32_t weight = tap[1 + i];
            for (int b = 0; b < bytes; b++)
                sum[b] += weight * row[b];
        }
        for (int b = 0; b < bytes; b++)
            to[first + b] = (uint8_t)sat8(sum[b] >> TAPS_BITS);
    }
}

extern warp_row VECTORS_NAME(row_taps);
void VECTORS_NAME(row_taps)(const int32_t *numbers, const struct warp_source *from, int y, uint8_t *to)
{
    const int width = WARP_WIDTH(numbers), count = numbers[TAPS_COUNT_AT];
    if (numbers[TAPS_DOWN_AT]) {
        take_columns(numbers + TAPS_AT + (size_t)y * (size_t)(1 + count), count, from, width, to);
        return;
    }
    const uint8_t *row = from->pixels + (size_t)y * from->stride;
    const int32_t *tap = numbers + TAPS_AT;
    for (int x = 0; x < width; x++, tap += 1 + count) {
        int32_t sum[4] = {TAPS_HALF, TAPS_HALF, TAPS_HALF, TAPS_HALF};
        for (int i = 0; i < count; i++) {
            const uint8_t *input = row + 4 * (size_t)clamp(tap[0] + i, 0, from->width - 1);
            for (int k = 0; k < 4; k++)
                sum[k] += tap[1 + i] * input[k];
        }
        for (int k = 0; k < 4; k++)
            to[4 * x + k] = (uint8_t)sat8(sum[k] >> TAPS_BITS);
    }
}
