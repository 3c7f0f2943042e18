// rows_warp.c: rows of a warp; compiled once per instruction set
#include "filter/rows.h"

#include "base/vector.h"
#include "filter/filter_kernels.h"

#include <string.h>

static pixel pixel_at(const struct warp_source *from, int x, int y)
{
    uint32_t word;
    memcpy(&word,
           from->pixels + (size_t)clamp(y, 0, from->height - 1) * from->stride +
               4 * (size_t)clamp(x, 0, from->width - 1),
           4);
    return pixel_of(word);
}

static uint32_t make_pixel(const struct warp_source *from, place at)
{
    const int left = at.x >> 8, top = at.y >> 8;
    const pixel p = warp_pixel(pixel_at(from, left, top), pixel_at(from, left + 1, top), pixel_at(from, left, top + 1),
                               pixel_at(from, left + 1, top + 1), at);
    return word_of(p);
}

#if VECTOR_BYTES

enum { CELL = 16, PART = 16 * CELL, LANES = VECTOR_BYTES / 4 }; // CELL: the most pixels between nodes

// Output pixels on their way. The work on a part has three steps, because vectors that are read soon after single
// pixels were written wait for these.
struct warp_part {
    int32_t left[PART], top[PART]; // the input pixel at the top left; the others are right of it and below
    uint32_t across[PART];         // two weights of 16 bits: 256 - a, and a above it
    int32_t down[PART];            // b
    // Two neighbouring input pixels for each pixel of the output: [0] has pixels 0, 1, 4, 5, 8, ... and [1] has 2, 3,
    // 6, 7, 10, ..., so that vec_widen_u8 and the packing give the order of the output.
    uint64_t upper[2][PART / 2], lower[2][PART / 2];
};

static int whole_cells(int pixels)
{
    return (pixels + CELL - 1) / CELL * CELL;
}

// Returns the places of the next LANES pixels of a cell on one axis (warp_axis). `left` and `right` are 16 times the
// places at the edges of the cell in this row. The sums fit in 31 bits, differences may wrap around.
VECTOR_INLINE vec_s32 places_of(int32_t left, int32_t right, vec_u32 column)
{
    const uint32_t step = (uint32_t)right - (uint32_t)left;
    return (vec_s32)(vec_spread_u32((int)(16 * (uint32_t)left + 128)) + column * vec_spread_u32((int)step)) >> 8;
}

// Splits places into the pixel before, at most `last`, and the distance from it, 0 to 256. Beyond the input, the edge
// pixels repeat.
VECTOR_INLINE vec_s32 split_places(vec_s32 places, int last, vec_s32 *distance)
{
    const vec_s32 inside = vec_min_s32(vec_max_s32(places, vec_spread_s32(0)), vec_spread_s32(256 * (last + 1)));
    const vec_s32 before = vec_min_s32(inside >> 8, vec_spread_s32(last));
    *distance = inside - (before << 8);
    return before;
}

// Puts the next LANES places into the part, from pixel `i` on.
VECTOR_INLINE void take_places(struct warp_part *part, int i, vec_s32 u, vec_s32 v, const struct warp_source *from)
{
    vec_s32 a, b;
    vec_store_s32(part->left + i, split_places(u, from->width - 2, &a));
    vec_store_s32(part->top + i, split_places(v, from->height - 2, &b));
    vec_store_s32(part->across + i, a * 65535 + 256);
    vec_store_s32(part->down + i, b);
}

// `node` is the node at the top left of the part's first cell, `below` the one below.
static void find_far_places(struct warp_part *part, const int32_t *node, const int32_t *below, int lower, int cells,
                            const struct warp_source *from)
{
    int32_t number[LANES];
    for (int i = 0; i < LANES; i++)
        number[i] = i;
    for (int cell = 0; cell < cells; cell++, node += 2, below += 2) {
        int32_t edge[4]; // u and v at the left, u and v at the right
        for (int i = 0; i < 4; i++)
            edge[i] = node[i] * (16 - lower) + below[i] * lower;
        for (int i = 0; i < CELL; i += LANES) {
            const int at = CELL * cell + i;
            const vec_u32 column = vec_load_u32(number) + (uint32_t)i;
            take_places(part, at, places_of(edge[0], edge[2], column), places_of(edge[1], edge[3], column), from);
        }
    }
}

// The same for nodes that are nearer: 2^shift pixels, a constant.
VECTOR_INLINE void find_near_places(struct warp_part *part, const int32_t *node, const int32_t *below, int lower,
                                    int count, int shift, const struct warp_source *from)
{
    const int side = 1 << shift, half = side * side >> 1, whole = whole_cells(count);
    int32_t u[PART], v[PART];
    int x = 0;
    for (; x < count; x += side, node += 2, below += 2) {
        int32_t edge[4]; // u and v at the left, u and v at the right
        for (int i = 0; i < 4; i++)
            edge[i] = node[i] * (side - lower) + below[i] * lower;
        for (int i = 0; i < side; i++) {
            u[x + i] = (edge[0] * (side - i) + edge[2] * i + half) >> (2 * shift);
            v[x + i] = (edge[1] * (side - i) + edge[3] * i + half) >> (2 * shift);
        }
    }
    for (; x < whole; x++) {
        u[x] = u[x - 1];
        v[x] = v[x - 1];
    }
    for (int i = 0; i < whole; i += LANES)
        take_places(part, i, vec_load_s32(u + i), vec_load_s32(v + i), from);
}

static void find_places(struct warp_part *part, const int32_t *node, const int32_t *below, int lower, int count,
                        int shift, const struct warp_source *from)
{
    if (shift == 0)
        find_near_places(part, node, below, lower, count, 0, from);
    else if (shift == 1)
        find_near_places(part, node, below, lower, count, 1, from);
    else if (shift == 2)
        find_near_places(part, node, below, lower, count, 2, from);
    else if (shift == 3)
        find_near_places(part, node, below, lower, count, 3, from);
    else
        find_far_places(part, node, below, lower, whole_cells(count) / CELL, from);
}

static void load_pixels(struct warp_part *part, const struct warp_source *from, int count)
{
    for (int i = 0; i < count; i++) {
        const uint8_t *at = from->pixels + (size_t)part->top[i] * from->stride + 4 * (size_t)part->left[i];
        const int to = i / 4 * 2 + (i & 1);
        memcpy(&part->upper[i >> 1 & 1][to], at, sizeof(uint64_t));
        memcpy(&part->lower[i >> 1 & 1][to], at + from->stride, sizeof(uint64_t));
    }
}

// In each part of 16 bytes: lane `number` of 4 bytes, four times.
#define SPREAD_LANE(vector, number)                                                                                    \
    vec_shuffle_u8((vec_u8)(vector), 4 * (number), 4 * (number) + 1, 4 * (number) + 2, 4 * (number) + 3, 4 * (number), \
                   4 * (number) + 1, 4 * (number) + 2, 4 * (number) + 3, 4 * (number), 4 * (number) + 1,               \
                   4 * (number) + 2, 4 * (number) + 3, 4 * (number), 4 * (number) + 1, 4 * (number) + 2,               \
                   4 * (number) + 3)

// Puts the same channel of two neighbouring pixels side by side.
VECTOR_INLINE struct vec_two_u16 load_pairs(const uint64_t *pixels)
{
    return vec_widen_u8(vec_shuffle_u8(vec_load_u8(pixels), 0, 4, 1, 5, 2, 6, 3, 7, 8, 12, 9, 13, 10, 14, 11, 15));
}

VECTOR_INLINE vec_s32 blend(vec_u16 upper, vec_u16 lower, vec_u8 across, vec_u8 down)
{
    const vec_s32 above = vec_pair_products((vec_s16)upper, (vec_s16)across);
    const vec_s32 below = vec_pair_products((vec_s16)lower, (vec_s16)across);
    return ((above << 8) + (below - above) * (vec_s32)down + 32768) >> 16;
}

// Returns output pixels `i` to i + LANES - 1.
VECTOR_INLINE vec_u8 blend_pixels(const struct warp_part *part, int i)
{
    const vec_u32 across = vec_load_u32(part->across + i);
    const vec_s32 down = vec_load_s32(part->down + i);
    vec_s16 half[2];
    for (int k = 0; k < 2; k++) {
        const struct vec_two_u16 upper = load_pairs(part->upper[k] + i / 2), lower = load_pairs(part->lower[k] + i / 2);
        half[k] = k == 0 ? vec_pack_s32(blend(upper.a, lower.a, SPREAD_LANE(across, 0), SPREAD_LANE(down, 0)),
                                        blend(upper.b, lower.b, SPREAD_LANE(across, 1), SPREAD_LANE(down, 1)))
                         : vec_pack_s32(blend(upper.a, lower.a, SPREAD_LANE(across, 2), SPREAD_LANE(down, 2)),
                                        blend(upper.b, lower.b, SPREAD_LANE(across, 3), SPREAD_LANE(down, 3)));
    }
    return vec_pack_s16(half[0], half[1]);
}

// Makes `count` pixels from the places of whole cells.
static void finish_part(struct warp_part *part, const struct warp_source *from, int count, uint8_t *to)
{
    load_pixels(part, from, whole_cells(count));
    for (int i = 0; i < count; i += LANES, to += VECTOR_BYTES) {
        const vec_u8 pixels = blend_pixels(part, i);
        if (i + LANES <= count)
            vec_store_u8(to, pixels);
        else
            memcpy(to, &pixels, 4 * (size_t)(count - i));
    }
}

static bool has_squares(const struct warp_source *from)
{
    return from->width > 1 && from->height > 1; // each place is between four pixels
}

static void make_parts(const int32_t *numbers, const struct warp_source *from, int y, uint8_t *to)
{
    const int width = WARP_WIDTH(numbers), columns = ARG(numbers, 2);
    const int shift = ARG(numbers, 3), more = 2 * (PART >> shift);
    const int32_t *node = numbers + 4 + 2 * (y >> shift) * columns, *below = node + 2 * columns;
    struct warp_part part;
    for (int x = 0; x < width; x += PART, node += more, below += more) {
        const int count = width - x < PART ? width - x : PART;
        find_places(&part, node, below, y & ((1 << shift) - 1), count, shift, from);
        finish_part(&part, from, count, to + 4 * (size_t)x);
    }
}

// The same for places that are given.
static void make_given_parts(const int32_t *u, const int32_t *v, int width, const struct warp_source *from, uint8_t *to)
{
    struct warp_part part;
    for (int x = 0; x < width; x += PART) {
        const int count = width - x < PART ? width - x : PART;
        for (int i = 0; i < whole_cells(count); i += LANES)
            take_places(&part, i, vec_load_s32(u + x + i), vec_load_s32(v + x + i), from);
        finish_part(&part, from, count, to + 4 * (size_t)x);
    }
}

#endif

extern warp_row VECTORS_NAME(row_warp);
void VECTORS_NAME(row_warp)(const int32_t *numbers, const struct warp_source *from, int y, uint8_t *to)
{
#if VECTOR_BYTES
    if (has_squares(from)) {
        make_parts(numbers, from, y, to);
        return;
    }
#endif
    for (int x = 0; x < WARP_WIDTH(numbers); x++)
        ((pixel_word *)to)[x] = make_pixel(from, warp_place(numbers, x, y));
}

extern warp_places VECTORS_NAME(row_warp_at);
void VECTORS_NAME(row_warp_at)(const int32_t *u, const int32_t *v, int width, const struct warp_source *from,
                               uint8_t *to)
{
#if VECTOR_BYTES
    if (has_squares(from)) {
        make_given_parts(u, v, width, from, to);
        return;
    }
#endif
    for (int x = 0; x < width; x++)
        ((pixel_word *)to)[x] = make_pixel(from, (place){u[x], v[x]});
}
