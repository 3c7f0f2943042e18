// png_filter.c: the row filters of PNG; compiled once per instruction set
#include "image/codec/png_filter.h"

#include <stdlib.h>
#include <string.h>

enum { NONE, SUB, UP, AVERAGE, PAETH };

// Always reads four bytes, because that is one instruction; the pixel is in the lower ones.
static inline uint32_t get(const uint8_t *at)
{
    uint32_t pixel;
    memcpy(&pixel, at, sizeof(pixel));
    return pixel;
}

static inline void put(uint8_t *at, uint32_t pixel, int step)
{
    if (step == 3) { // a copy of three bytes would go through memory twice
        memcpy(at, &pixel, 2);
        at[2] = (uint8_t)(pixel >> 16);
    } else {
        memcpy(at, &pixel, (size_t)step);
    }
}

// Adds byte by byte, modulo 256.
static inline uint32_t add_bytes(uint32_t a, uint32_t b)
{
    return ((a & 0x7f7f7f7fu) + (b & 0x7f7f7f7fu)) ^ ((a ^ b) & 0x80808080u);
}

static inline uint32_t average_bytes(uint32_t a, uint32_t b)
{
    return (a & b) + (((a ^ b) & 0xfefefefeu) >> 1);
}

static inline void undo_sub(uint8_t *to, const uint8_t *from, size_t bytes, int step)
{
    uint32_t left = 0;
    for (size_t i = 0; i + (size_t)step <= bytes; i += (size_t)step) {
        left = add_bytes(left, get(from + i));
        put(to + i, left, step);
    }
}

static inline void undo_average(uint8_t *to, const uint8_t *from, const uint8_t *above, size_t bytes, int step)
{
    uint32_t left = 0;
    for (size_t i = 0; i + (size_t)step <= bytes; i += (size_t)step) {
        left = add_bytes(average_bytes(left, get(above + i)), get(from + i));
        put(to + i, left, step);
    }
}

// The bytes of a pixel, one per lane.
typedef int16_t lanes __attribute__((vector_size(16)));

static inline lanes spread(uint32_t pixel)
{
    return (lanes){(int16_t)(pixel & 255), (int16_t)(pixel >> 8 & 255), (int16_t)(pixel >> 16 & 255),
                   (int16_t)(pixel >> 24)};
}

static inline lanes absolute(lanes v)
{
    const lanes sign = v >> 15;
    return (v ^ sign) - sign;
}

static inline lanes choose(lanes mask, lanes yes, lanes no)
{
    return (yes & mask) | (no & ~mask);
}

static inline void undo_paeth(uint8_t *to, const uint8_t *from, const uint8_t *above, size_t bytes, int step)
{
    lanes left = {0}, corner = {0};
    for (size_t i = 0; i + (size_t)step <= bytes; i += (size_t)step) {
        const lanes up = spread(get(above + i));
        const lanes to_left = up - corner, to_up = left - corner;
        const lanes a = absolute(to_left), b = absolute(to_up), c = absolute(to_left + to_up);
        const lanes guess = choose((a <= b) & (a <= c), left, choose(b <= c, up, corner));
        left = (guess + spread(get(from + i))) & 255;
        corner = up;
        put(to + i, (uint32_t)left[0] | (uint32_t)left[1] << 8 | (uint32_t)left[2] << 16 | (uint32_t)left[3] << 24,
            step);
    }
}

static inline int paeth(int left, int up, int corner)
{
    const int a = abs(up - corner), b = abs(left - corner), c = abs(up + left - 2 * corner);
    return a <= b && a <= c ? left : b <= c ? up : corner;
}

// For pixels of one or two bytes, which would leave lanes unused, or of more than four. `filter` is a constant where
// this is inlined.
static inline void undo_channels(int filter, uint8_t *to, const uint8_t *from, const uint8_t *above, size_t bytes,
                                 int step)
{
    for (int channel = 0; channel < step; channel++) {
        int left = 0, corner = 0;
        for (size_t i = (size_t)channel; i < bytes; i += (size_t)step) {
            const int up = above[i];
            left = from[i] + (filter == SUB ? left : filter == AVERAGE ? (left + up) / 2 : paeth(left, up, corner));
            left = to[i] = (uint8_t)left;
            corner = up;
        }
    }
}

static void undo_up(uint8_t *to, const uint8_t *from, const uint8_t *above, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = (uint8_t)(from[i] + above[i]);
}

static bool undo(int filter, uint8_t *to, const uint8_t *from, const uint8_t *before, size_t bytes, int step)
{
    switch (filter) {
    case NONE:
        memmove(to, from, bytes);
        return true;
    case SUB: // constant steps, so that each is compiled for its own
        if (step == 3)
            undo_sub(to, from, bytes, 3);
        else if (step == 4)
            undo_sub(to, from, bytes, 4);
        else
            undo_channels(SUB, to, from, before, bytes, step);
        return true;
    case UP:
        undo_up(to, from, before, bytes);
        return true;
    case AVERAGE:
        if (step == 3)
            undo_average(to, from, before, bytes, 3);
        else if (step == 4)
            undo_average(to, from, before, bytes, 4);
        else
            undo_channels(AVERAGE, to, from, before, bytes, step);
        return true;
    case PAETH:
        if (step == 3)
            undo_paeth(to, from, before, bytes, 3);
        else if (step == 4)
            undo_paeth(to, from, before, bytes, 4);
        else
            undo_channels(PAETH, to, from, before, bytes, step);
        return true;
    default:
        return false;
    }
}

static void do_sub(uint8_t *restrict to, const uint8_t *restrict row, const uint8_t *restrict left, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = (uint8_t)(row[i] - left[i]);
}

static void do_average(uint8_t *restrict to, const uint8_t *restrict row, const uint8_t *restrict lefts,
                       const uint8_t *restrict ups, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++)
        to[i] = (uint8_t)(row[i] - ((lefts[i] + ups[i]) >> 1));
}

static void do_paeth(uint8_t *restrict to, const uint8_t *restrict row, const uint8_t *restrict lefts,
                     const uint8_t *restrict ups, const uint8_t *restrict corners, size_t bytes)
{
    for (size_t i = 0; i < bytes; i++) {
        const int16_t left = lefts[i], up = ups[i], corner = corners[i];
        const int16_t to_left = (int16_t)(up - corner), to_up = (int16_t)(left - corner);
        const int16_t both = (int16_t)(to_left + to_up);
        const int16_t a = to_left < 0 ? (int16_t)-to_left : to_left, b = to_up < 0 ? (int16_t)-to_up : to_up;
        const int16_t c = both < 0 ? (int16_t)-both : both;
        const int16_t other = b <= c ? up : corner;
        to[i] = (uint8_t)(row[i] - (((a <= b) & (a <= c)) ? left : other));
    }
}

// Estimates the compressed size of a row: the sum of the absolute values of its bytes, taken as signed.
static uint32_t cost(const uint8_t *row, size_t bytes)
{
    uint32_t sum = 0;
    for (size_t i = 0; i < bytes; i++)
        sum += row[i] < 128 ? row[i] : 256u - row[i];
    return sum;
}

static void apply(int filter, uint8_t *to, const uint8_t *row, const uint8_t *before, size_t bytes, int step)
{
    to[0] = (uint8_t)filter;
    if (filter == NONE)
        memcpy(to + 1, row, bytes);
    else if (filter == SUB)
        do_sub(to + 1, row, row - step, bytes);
    else if (filter == UP)
        do_sub(to + 1, row, before, bytes);
    else if (filter == AVERAGE)
        do_average(to + 1, row, row - step, before, bytes);
    else
        do_paeth(to + 1, row, row - step, before, before - step, bytes);
}

static void apply_best(int filter, uint8_t *to, const uint8_t *row, const uint8_t *before, size_t bytes, int step)
{
    static const int tried[] = {PAETH, AVERAGE, UP, SUB, NONE};
    if (filter != PNG_FILTER_BEST) {
        apply(filter, to, row, before, bytes, step);
        return;
    }
    int best = PAETH;
    uint32_t least = UINT32_MAX;
    for (size_t i = 0; i < sizeof(tried) / sizeof(*tried); i++) {
        apply(tried[i], to, row, before, bytes, step);
        const uint32_t costs = cost(to + 1, bytes);
        if (costs < least) {
            least = costs;
            best = tried[i];
        }
    }
    apply(best, to, row, before, bytes, step);
}

const struct png_filter VECTORS_NAME(png_filter) = {undo, apply_best};
