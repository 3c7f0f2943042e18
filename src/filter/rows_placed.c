// rows_placed.c: rows of filters that depend on the places of pixels; compiled once per instruction set
#include "filter/rows.h"

#include "base/vector.h"
#include "filter/filter_kernels.h"

#include <limits.h>
#include <string.h>

#if VECTOR_BYTES

static void copy(const uint8_t *from, uint8_t *to, int first, int end)
{
    if (from != to && end > first)
        memcpy(to + 4 * (size_t)first, from + 4 * (size_t)first, 4 * (size_t)(end - first));
}

// Only the pixels of the picture change. Its numbers are those of `overlay`.
static void overlay(const struct filter_arguments *made, const uint8_t *from, uint8_t *to, int width, int y)
{
    const int32_t *numbers = filter_numbers(made);
    const int left = numbers[0], row = y - numbers[1], across = numbers[2];
    const bool inside = row >= 0 && row < numbers[3];
    const int first = clamp(left, 0, width), end = inside ? clamp(left + across, first, width) : first;
    const int32_t *restrict words = numbers + 4 + (inside ? row * across : 0) - left;
    const pixel_word *in = (const pixel_word *)from;
    pixel_word *out = (pixel_word *)to;
    copy(from, to, 0, first);
    INDEPENDENT
    for (int x = first; x < end; x++)
        out[x] = word_of(over(pixel_of(in[x]), words[x]));
    copy(from, to, end, width);
}

// `mode` is a constant.
INLINE void blend_row(const int32_t *restrict words, const uint8_t *from, uint8_t *to, int width, int mode)
{
    const pixel_word *in = (const pixel_word *)from;
    pixel_word *out = (pixel_word *)to;
    INDEPENDENT
    for (int x = 0; x < width; x++)
        out[x] = word_of(blend_pixel(pixel_of(in[x]), words[x], mode));
}

#define MODE(number)                                                                                                   \
    case number:                                                                                                       \
        blend_row(words, from, to, width, number);                                                                     \
        break;

static void blend(const struct filter_arguments *made, const uint8_t *from, uint8_t *to, int width, int y)
{
    const int32_t *numbers = filter_numbers(made), *words = numbers + 2 + (ptrdiff_t)y * numbers[1];
    switch (numbers[0]) {
        MODE(0)
        MODE(1)
        MODE(2)
        MODE(3)
        MODE(4)
        MODE(5)
        MODE(6)
        MODE(7)
        MODE(8)
    }
}

// The image is in the middle: only the border changes.
static void pad(const struct filter_arguments *made, const uint8_t *from, uint8_t *to, int width, int y)
{
    const int32_t *numbers = filter_numbers(made);
    const bool inside = y >= numbers[1] && y < numbers[3];
    const int first = inside ? clamp(numbers[0], 0, width) : width;
    const int end = inside ? clamp(numbers[2], first, width) : width;
    const pixel_word border = word_of((pixel){numbers[4], numbers[5], numbers[6], 255});
    pixel_word *out = (pixel_word *)to;
    for (int x = 0; x < first; x++)
        out[x] = border;
    copy(from, to, first, end);
    for (int x = end; x < width; x++)
        out[x] = border;
}

// Between the centres of four tiles, the upper and the lower one have the same weights for the whole row.
static void clahe(const struct filter_arguments *made, const uint8_t *from, uint8_t *to, int width, int y)
{
    enum { TILES = 1023, WEIGHT_AT = 10, TABLES_AT = 4 }; // kernels/clahe.cl
    const int32_t *numbers = filter_numbers(made), *columns = numbers + numbers[2];
    const int row = numbers[numbers[3] + y], tables = FILTER_LEVELS * numbers[0];
    const int32_t *above = numbers + TABLES_AT + tables * (row & 31);
    const int32_t *below = numbers + TABLES_AT + tables * (row >> 5 & 31);
    const pixel_word *in = (const pixel_word *)from;
    pixel_word *out = (pixel_word *)to;
    int32_t sums[FILTER_LEVELS][2]; // of the tiles on the left and on the right
    for (int x = 0; x < width;) {
        const int tiles = columns[x] & TILES, left = FILTER_LEVELS * (tiles & 31), right = FILTER_LEVELS * (tiles >> 5);
        for (int i = 0; i < FILTER_LEVELS; i++) {
            sums[i][0] = clahe_between(above[left + i], below[left + i], row >> WEIGHT_AT);
            sums[i][1] = clahe_between(above[right + i], below[right + i], row >> WEIGHT_AT);
        }
        for (; x < width && (columns[x] & TILES) == tiles; x++) {
            const int weight = columns[x] >> WEIGHT_AT;
            pixel p = pixel_of(in[x]);
            p.r = clahe_end(clahe_between(sums[p.r][0], sums[p.r][1], weight));
            p.g = clahe_end(clahe_between(sums[p.g][0], sums[p.g][1], weight));
            p.b = clahe_end(clahe_between(sums[p.b][0], sums[p.b][1], weight));
            out[x] = word_of(p);
        }
    }
}

// With small tiles, most of the sums would not be used.
static bool clahe_fits(const struct filter_arguments *made, int width, int step)
{
    enum { TILE_LEAST = 48 };
    return width >= TILE_LEAST * made->tiles;
}

enum { MASK_PART = 256, CELL = 8 }; // pixels

// Mixes bytes, `shares` / 255 of them from `from`, as `mixed` (kernels/common.cl).
static void mix(const uint8_t *from, const uint8_t *kept, const uint8_t *shares, uint8_t *to, int bytes)
{
    int i = 0;
    for (; i + VECTOR_BYTES <= bytes; i += VECTOR_BYTES) {
        const struct vec_two_u16 a = vec_widen_u8(vec_load_u8(from + i)), b = vec_widen_u8(vec_load_u8(kept + i));
        const struct vec_two_u16 k = vec_widen_u8(vec_load_u8(shares + i));
        const vec_u16 low = a.a * k.a + b.a * (255 - k.a) + 128, high = a.b * k.b + b.b * (255 - k.b) + 128;
        vec_store_u8(to + i, vec_pack_s16((vec_s16)((low + (low >> 8)) >> 8), (vec_s16)((high + (high >> 8)) >> 8)));
    }
    for (; i < bytes; i++)
        to[i] = (uint8_t)part255(from[i] * shares[i] + kept[i] * (255 - shares[i]));
}

// `share` is an expression of the mask for column x.
#define MASK_ROW(name, share)                                                                                          \
    static void name(const struct filter_arguments *made, const uint8_t *from, const uint8_t *kept, uint8_t *to,       \
                     int width, int y)                                                                                 \
    {                                                                                                                  \
        const int32_t *restrict args = filter_numbers(made);                                                           \
        uint32_t shares[MASK_PART];                                                                                    \
        for (int first = 0; first < width; first += MASK_PART) {                                                       \
            const int count = width - first < MASK_PART ? width - first : MASK_PART;                                   \
            for (int i = 0, x = first; i < count; i++, x++)                                                            \
                shares[i] = (uint32_t)(share)*0x01010101u;                                                             \
            mix(from + 4 * (size_t)first, kept + 4 * (size_t)first, (const uint8_t *)shares, to + 4 * (size_t)first,   \
                4 * count);                                                                                            \
        }                                                                                                              \
    }
MASK_ROW(within, ((const uint8_t *)(args + 1 + (ptrdiff_t)y * ((width + 3) / 4)))[x])
MASK_ROW(inside, inside_share(x, y, args))

// `by` is a constant.
INLINE void key_part(const int32_t *restrict args, const uint32_t *restrict kept, uint32_t *restrict shares,
                     uint32_t *restrict clean, int count, int by)
{
    for (int i = 0; i < count; i++) {
        const pixel p = pixel_of(kept[i]);
        const int hue = key_hue(p, args);
        shares[i] = (uint32_t)key_share(p, hue, by, args) * 0x01010101u;
        clean[i] = word_of(key_clean(p, hue, args));
    }
}

static void key(const struct filter_arguments *made, const uint8_t *from, const uint8_t *kept, uint8_t *to, int width,
                int y)
{
    const int32_t *args = filter_numbers(made);
    uint32_t shares[MASK_PART], clean[MASK_PART];
    for (int first = 0; first < width; first += MASK_PART, from += 4 * MASK_PART, to += 4 * MASK_PART) {
        const int count = width - first < MASK_PART ? width - first : MASK_PART;
        const uint32_t *words = (const uint32_t *)kept + first;
        if (args[1] == 0)
            key_part(args, words, shares, clean, count, 0);
        else if (args[1] == 1)
            key_part(args, words, shares, clean, count, 1);
        else
            key_part(args, words, shares, clean, count, 2);
        mix(from, (const uint8_t *)clean, (const uint8_t *)shares, to, 4 * count);
    }
}

// For each column of a part: the numbers a and b on its left, and their changes to those on its right.
struct between {
    int32_t a[MASK_PART + CELL], b[MASK_PART + CELL], da[MASK_PART + CELL], db[MASK_PART + CELL];
};

// Sets them for `count` columns from column `first` on. `step`: numbers for a column, in 1/65536.
static void find_between(struct between *between, const int32_t *line, int columns, int step, int first, int count)
{
    for (int x = 0, u = first * step + (step >> 1) - 32768; x < count;) {
        const int left = clamp(u >> 16, 0, columns - 2), end = left < columns - 2 ? (left + 1) << 16 : INT_MAX;
        const int32_t *at = line + 2 * left;
        for (; x < count && u < end; x += CELL, u += CELL * step) { // some columns too many, which the next numbers get
            for (int i = 0; i < CELL; i++) {
                between->a[x + i] = at[0];
                between->b[x + i] = at[1];
                between->da[x + i] = at[2] - at[0];
                between->db[x + i] = at[3] - at[1];
            }
        }
        for (; u - step >= end; u -= step)
            x--;
    }
}

// The rows of numbers above and below are mixed once (kernels/matte.cl).
static void matte(const struct filter_arguments *made, const uint8_t *from, const uint8_t *kept, uint8_t *to, int width,
                  int y)
{
    enum { NUMBERS_MOST = 512 };
    const int32_t *args = filter_numbers(made);
    const uint32_t *words = (const uint32_t *)kept;
    uint32_t shares[MASK_PART];
    int32_t line[NUMBERS_MOST];
    struct between between;
    if (args[0] == 0) {
        memcpy(to, from, 4 * (size_t)width);
        return;
    }
    const int step = args[2], columns = args[4], rows = args[5];
    const int v = clamp((((2 * y + 1) * args[3]) >> 1) - 32768, 0, (rows - 1) << 16), top = min(v >> 16, rows - 2);
    const int32_t *restrict upper = args + 6 + 2 * columns * top, *restrict lower = upper + 2 * columns;
    const int g = (v - (top << 16)) >> 8;
    for (int i = 0; i < 2 * columns; i++)
        line[i] = (upper[i] * (256 - g) + lower[i] * g) >> 8;
    const uint32_t turned = args[1] ? 255 : 0; // 255 - share is share ^ 255
    for (int first = 0; first < width; first += MASK_PART) {
        const int count = width - first < MASK_PART ? width - first : MASK_PART;
        find_between(&between, line, columns, step, first, count);
        for (int i = 0; i < count; i++) {
            const int u = clamp((((2 * (first + i) + 1) * step) >> 1) - 32768, 0, (columns - 1) << 16);
            const int left = min(u >> 16, columns - 2), f = (u - (left << 16)) >> 8;
            const int a = between.a[i] + ((between.da[i] * f) >> 8), b = between.b[i] + ((between.db[i] * f) >> 8);
            shares[i] = ((uint32_t)sat8((a * luma(pixel_of(words[first + i])) + b) >> 8) ^ turned) * 0x01010101u;
        }
        mix(from + 4 * (size_t)first, kept + 4 * (size_t)first, (const uint8_t *)shares, to + 4 * (size_t)first,
            4 * count);
    }
}

const struct row_variant VECTORS_NAME(rows_placed)[] = {
    {.name = "vectors", .filter = "overlay", .placed = overlay},
    {.name = "vectors", .filter = "text", .placed = overlay},
    {.name = "vectors", .filter = "blend", .placed = blend},
    {.name = "vectors", .filter = "within", .second = within},
    {.name = "vectors", .filter = "inside", .second = inside},
    {.name = "vectors", .filter = "key", .second = key},
    {.name = "vectors", .filter = "matte", .second = matte},
    {.name = "vectors", .filter = "pad", .placed = pad},
    {.name = "vectors", .filter = "clahe", .fits = clahe_fits, .placed = clahe},
    {0},
};

#endif
