// rows_points.c: point filters in vectors; compiled once per instruction set
#include "base/vector.h"
#include "filter/rows.h"

#if VECTOR_BYTES

enum { PIXELS = VECTOR_BYTES / 4 };
#define ALPHA 0xff000000u

typedef vec_u32 point_map(vec_u32 pixels, const void *context);

static bool fits(const struct filter_arguments *arguments, int width, int step)
{
    return width >= PIXELS;
}

VECTOR_INLINE void map_points(point_map *map, const void *context, const uint8_t *from, uint8_t *to, int width)
{
    const uint8_t *last = from + 4 * (width - PIXELS);
    // Computed first, because the loop changes these pixels if it works in place.
    const vec_u32 end = map(vec_load_u32(last), context);
    for (int x = 0; x + PIXELS <= width; x += PIXELS)
        vec_store_u32(to + 4 * x, map(vec_load_u32(from + 4 * x), context));
    vec_store_u32(to + 4 * (width - PIXELS), end);
}

// Copies byte `place` of each lane to all three colours; alpha becomes 0.
#define SPREAD(lanes, place)                                                                                           \
    (vec_u32) vec_shuffle_u8((vec_u8)(lanes), place, place, place, -1, place + 4, place + 4, place + 4, -1, place + 8, \
                             place + 8, place + 8, -1, place + 12, place + 12, place + 12, -1)

// Returns luma in bits 8 to 15 of each lane.
VECTOR_INLINE vec_s32 luma_of(vec_u32 pixels)
{
    return vec_weigh_rgb(pixels, 77, 150, 29) + 128;
}

VECTOR_INLINE vec_u32 map_gray(vec_u32 pixels, const void *context)
{
    return SPREAD(luma_of(pixels), 1) | (pixels & ALPHA);
}

VECTOR_INLINE vec_u32 map_average(vec_u32 pixels, const void *context)
{
    const vec_u16 sums = (vec_u16)(vec_weigh_rgb(pixels, 1, 1, 1) + 1);
    return SPREAD(vec_upper_u16(sums, vec_spread_u16(21846)), 0) | (pixels & ALPHA);
}

VECTOR_INLINE vec_u32 map_threshold(vec_u32 pixels, const void *context)
{
    const vec_u32 white = (vec_u32)(luma_of(pixels) >= vec_spread_s32(*(const int32_t *)context << 8));
    return (white & ~ALPHA) | (pixels & ALPHA);
}

VECTOR_INLINE vec_u32 map_invert(vec_u32 pixels, const void *context)
{
    return pixels ^ ~ALPHA;
}

VECTOR_INLINE vec_u32 map_maxrgb(vec_u32 pixels, const void *context)
{
    const vec_u8 bytes = (vec_u8)pixels;
    const vec_u8 second = vec_shuffle_u8(bytes, 1, 2, 0, 3, 5, 6, 4, 7, 9, 10, 8, 11, 13, 14, 12, 15);
    const vec_u8 third = vec_shuffle_u8(bytes, 2, 0, 1, 3, 6, 4, 5, 7, 10, 8, 9, 11, 14, 12, 13, 15);
    const vec_u8 largest = vec_max_u8(bytes, vec_max_u8(second, third));
    return pixels & (vec_u32)(bytes == largest);
}

VECTOR_INLINE vec_u32 map_sepia(vec_u32 pixels, const void *context)
{
    const vec_s32 red = (vec_weigh_rgb(pixels, 50, 98, 24) + 64) >> 7;
    const vec_s32 green = (vec_weigh_rgb(pixels, 45, 88, 22) + 64) >> 7;
    const vec_s32 blue = (vec_weigh_rgb(pixels, 35, 68, 17) + 64) >> 7, alpha = (vec_s32)(pixels >> 24);
    const vec_u8 parts = vec_pack_s16(vec_pack_s32(red, blue), vec_pack_s32(green, alpha));
    return (vec_u32)vec_shuffle_u8(parts, 0, 8, 4, 12, 1, 9, 5, 13, 2, 10, 6, 14, 3, 11, 7, 15);
}

VECTOR_INLINE vec_u32 map_table(vec_u32 pixels, const void *context)
{
    return ((vec_u32)vec_look_up(context, (vec_u8)pixels) & ~ALPHA) | (pixels & ALPHA);
}

static void table(const struct filter_arguments *arguments, const uint8_t *from, uint8_t *to, int width)
{
    uint8_t entries[FILTER_LEVELS];
    for (int i = 0; i < FILTER_LEVELS; i++)
        entries[i] = (uint8_t)arguments->value[i];
    const struct vec_table ready = vec_load_table(entries);
    map_points(map_table, &ready, from, to, width);
}

static void gray(const struct filter_arguments *arguments, const uint8_t *from, uint8_t *to, int width)
{
    if (arguments->value[0] == 0)
        map_points(map_gray, arguments->value, from, to, width);
    else
        map_points(map_average, arguments->value, from, to, width);
}

#define ROW(name)                                                                                                      \
    static void name(const struct filter_arguments *arguments, const uint8_t *from, uint8_t *to, int width)            \
    {                                                                                                                  \
        map_points(map_##name, arguments->value, from, to, width);                                                     \
    }
ROW(threshold)
ROW(invert)
ROW(maxrgb)
ROW(sepia)

const struct row_variant VECTORS_NAME(rows_points)[] = {
    {.name = "vectors", .filter = "gray", .fits = fits, .point = gray},
    {.name = "vectors", .filter = "threshold", .fits = fits, .point = threshold},
    {.name = "vectors", .filter = "invert", .fits = fits, .point = invert},
    {.name = "vectors", .filter = "maxrgb", .fits = fits, .point = maxrgb},
    {.name = "vectors", .filter = "sepia", .fits = fits, .point = sepia},
    {.name = "vectors", .filter = "gamma", .fits = fits, .point = table},
    {.name = "vectors", .filter = "contrast", .fits = fits, .point = table},
    {0},
};

#endif
