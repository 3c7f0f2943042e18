// rows_taps.c: rows of a warp by taps; compiled once per instruction set
#include "filter/rows.h"

#include "base/vector.h"
#include "filter/filter_kernels.h"
#include "filter/warp.h"

static const uint8_t *row_of(const struct warp_source *from, int y)
{
    return from->pixels + (size_t)clamp(y, 0, from->height - 1) * from->stride;
}

static void take_columns(const int32_t *tap, int count, const struct warp_source *from, int width, uint8_t *to)
{
    const int bytes = 4 * width;
    int first = 0;
#if VECTOR_BYTES
    const vec_u8 zero = {0};
    for (; bytes >= VECTOR_BYTES && first < bytes; first += VECTOR_BYTES) {
        const int at = vector_begin(first, VECTOR_BYTES, bytes);
        vec_s32 sums[4];
        for (int k = 0; k < 4; k++)
            sums[k] = vec_spread_s32(TAPS_HALF + (VECTOR_PAIR_BIAS << TAPS_BITS)); // all weights are 2^TAPS_BITS
        for (int i = 0; i < count; i += 2) {
            const bool single = i == count - 1;
            const vec_u8 next = single ? zero : vec_load_u8(row_of(from, tap[0] + i + 1) + at);
            vec_add_products_s16(sums, vec_pair_u8(vec_load_u8(row_of(from, tap[0] + i) + at), next),
                                 vec_weights_s16(tap[1 + i], single ? 0 : tap[2 + i]), single);
        }
        vec_store_u8(to + at, vec_pack_s16(vec_pack_s32(sums[0] >> TAPS_BITS, sums[1] >> TAPS_BITS),
                                           vec_pack_s32(sums[2] >> TAPS_BITS, sums[3] >> TAPS_BITS)));
    }
#endif
    for (; first < bytes; first++) {
        int32_t sum = TAPS_HALF;
        for (int i = 0; i < count; i++)
            sum += tap[1 + i] * row_of(from, tap[0] + i)[first];
        to[first] = (uint8_t)sat8(sum >> TAPS_BITS);
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
