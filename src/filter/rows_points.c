// rows_points.c: point filters in vectors; compiled once per instruction set
#include "base/vector.h"
#include "filter/rows.h"

#if VECTOR_BYTES

typedef vec_pixels point_map(vec_pixels p, const void *context);

static bool fits(const struct filter_arguments *arguments, int width, int step)
{
    return width >= VECTOR_PIXELS;
}

VECTOR_INLINE void map_points(point_map *map, const void *context, const uint8_t *from, uint8_t *to, int width,
                              bool stream)
{
    const int last = 4 * (width - VECTOR_PIXELS);
    const vec_pixels end = vec_load_pixels(from + last); // read first, because the loop may work in place
    stream = stream && (uintptr_t)to % VECTOR_BYTES == 0;
    for (int i = 0; i < last; i += 4 * VECTOR_PIXELS) {
        const vec_pixels pixels = vec_load_pixels(from + i);
        if (stream)
            vec_fetch_once(from + i);
        vec_store_pixels(to + i, map(pixels, context), pixels, stream);
    }
    vec_store_pixels(to + last, map(end, context), end, stream && width % VECTOR_PIXELS == 0);
}

VECTOR_INLINE vec_levels luma_of(vec_pixels p)
{
    return vec_shift_sums(vec_weigh_pixels(p, 77, 150, 29, 128), 8);
}

VECTOR_INLINE vec_pixels map_gray(vec_pixels p, const void *context)
{
    return vec_join_grey(luma_of(p));
}

// 10923 / 32768 exceeds 1 / 3 by 1 / 98304. The sum is at most 765, so the rounded quotient is exact.
VECTOR_INLINE vec_pixels map_average(vec_pixels p, const void *context)
{
    return vec_join_grey(vec_scale_sums(vec_weigh_pixels(p, 1, 1, 1, 0), 10923));
}

VECTOR_INLINE vec_pixels map_threshold(vec_pixels p, const void *context)
{
    return vec_join_grey((vec_levels)(luma_of(p) >= (uint8_t) * (const int32_t *)context));
}

VECTOR_INLINE vec_pixels map_sepia(vec_pixels p, const void *context)
{
    return vec_join_levels(vec_shift_sums(vec_weigh_pixels(p, 50, 98, 24, 64), 7),
                           vec_shift_sums(vec_weigh_pixels(p, 45, 88, 22, 64), 7),
                           vec_shift_sums(vec_weigh_pixels(p, 35, 68, 17, 64), 7));
}

VECTOR_INLINE vec_pixels map_maxrgb(vec_pixels p, const void *context)
{
    const vec_u8 largest = vec_largest_colour(p);
    for (int i = 0; i < VECTOR_COLOURS; i++)
        p.val[i] &= (vec_u8)(p.val[i] == largest);
    return p;
}

VECTOR_INLINE vec_pixels map_table(vec_pixels p, const void *context)
{
    for (int i = 0; i < VECTOR_COLOURS; i++)
        p.val[i] = vec_look_up(context, p.val[i]);
    return p;
}

VECTOR_INLINE vec_pixels map_tables(vec_pixels p, const void *context)
{
    const struct vec_table *tables = context;
    if (VECTOR_COLOURS > 1) {
        for (int i = 0; i < VECTOR_COLOURS; i++)
            p.val[i] = vec_look_up(&tables[i], p.val[i]);
        return p;
    }
    const vec_u8 green = (vec_u8)vec_spread_u32(0xff00), blue = (vec_u8)vec_spread_u32(0xff0000), bytes = p.val[0];
    p.val[0] = vec_choose_u8(green, vec_look_up(&tables[1], bytes), vec_look_up(&tables[0], bytes));
    p.val[0] = vec_choose_u8(blue, vec_look_up(&tables[2], bytes), p.val[0]);
    return p;
}

// Returns true if the tables of all channels are equal.
static bool are_equal(const struct filter_arguments *arguments)
{
    for (int i = 0; i < FILTER_LEVELS; i++) {
        if (arguments->value[i] != (arguments->value[i] & 255) * 0x010101)
            return false;
    }
    return true;
}

static struct vec_table load_table(const struct filter_arguments *arguments, int channel)
{
    uint8_t entries[FILTER_LEVELS];
    for (int i = 0; i < FILTER_LEVELS; i++)
        entries[i] = (uint8_t)(arguments->value[i] >> 8 * channel);
    return vec_load_table(entries);
}

// The arguments are those of tables.h.
static void table(const struct filter_arguments *arguments, const uint8_t *from, uint8_t *to, int width, bool stream)
{
    struct vec_table tables[3]; // of red, green and blue
    tables[0] = load_table(arguments, 0);
    if (are_equal(arguments)) {
        map_points(map_table, tables, from, to, width, stream);
        return;
    }
    tables[1] = load_table(arguments, 1);
    tables[2] = load_table(arguments, 2);
    map_points(map_tables, tables, from, to, width, stream);
}

static bool gray_fits(const struct filter_arguments *arguments, int width, int step)
{
    return arguments->value[0] < 2 && fits(arguments, width, step);
}

static void gray(const struct filter_arguments *arguments, const uint8_t *from, uint8_t *to, int width, bool stream)
{
    if (arguments->value[0] == 0)
        map_points(map_gray, arguments->value, from, to, width, stream);
    else
        map_points(map_average, arguments->value, from, to, width, stream);
}

#define ROW(name)                                                                                                      \
    static void name(const struct filter_arguments *arguments, const uint8_t *from, uint8_t *to, int width,            \
                     bool stream)                                                                                      \
    {                                                                                                                  \
        map_points(map_##name, arguments->value, from, to, width, stream);                                             \
    }
ROW(threshold)
ROW(maxrgb)
ROW(sepia)

// Returns the new values, moved towards the previous ones. The table has the share of the previous values, so this is
// the rule of denoise.cl: d - ((d * (256 - k) + 255) >> 8) is (d * k) >> 8.
VECTOR_INLINE vec_pixels mix(vec_pixels p, vec_pixels previous, const struct vec_table *shares)
{
    vec_pixels d = p;
    for (int i = 0; i < VECTOR_COLOURS; i++)
        d.val[i] = vec_max_u8(p.val[i], previous.val[i]) - vec_min_u8(p.val[i], previous.val[i]);
    const vec_pixels most = d;
    for (int i = 0; i < VECTOR_COLOURS; i++) {
        const struct vec_two_u16 k = vec_widen_u8(vec_look_up(shares, vec_largest_colour(most)));
        const struct vec_two_u16 by = vec_widen_u8(d.val[i]);
        const vec_u8 back = vec_pack_s16((vec_s16)(k.a * by.a >> 8), (vec_s16)(k.b * by.b >> 8));
        p.val[i] = vec_choose_u8((vec_u8)(p.val[i] >= previous.val[i]), p.val[i] - back, p.val[i] + back);
    }
    return p;
}

static void denoise(const struct filter_arguments *arguments, const uint8_t *from, const uint8_t *previous, uint8_t *to,
                    int width, int y)
{
    enum { LAST = 64 }; // greater differences have its share
    uint8_t entries[FILTER_LEVELS];
    for (int i = 0; i < FILTER_LEVELS; i++)
        entries[i] = (uint8_t)(256 - arguments->value[1 + (i < LAST ? i : LAST)]);
    if (arguments->value[0] == 0) {
        memmove(to, from, 4 * (size_t)width);
        return;
    }
    const struct vec_table shares = vec_load_table(entries);
    const int last = 4 * (width - VECTOR_PIXELS);
    const vec_pixels end = vec_load_pixels(from + last); // read first, because the loop may work in place
    for (int i = 0; i < last; i += 4 * VECTOR_PIXELS) {
        const vec_pixels pixels = vec_load_pixels(from + i);
        vec_store_pixels(to + i, mix(pixels, vec_load_pixels(previous + i), &shares), pixels, false);
    }
    vec_store_pixels(to + last, mix(end, vec_load_pixels(previous + last), &shares), end, false);
}

const struct row_variant VECTORS_NAME(rows_points)[] = {
    {.name = "vectors", .filter = "denoise", .fits = fits, .second = denoise},
    {.name = "vectors", .filter = "gray", .fits = gray_fits, .point = gray},
    {.name = "vectors", .filter = "threshold", .fits = fits, .point = threshold},
    {.name = "vectors", .filter = "otsu", .fits = fits, .point = threshold},
    {.name = "vectors", .filter = "maxrgb", .fits = fits, .point = maxrgb},
    {.name = "vectors", .filter = "sepia", .fits = fits, .point = sepia},
    {.name = "vectors", .tables = true, .fits = fits, .point = table},
    {0},
};

#endif
