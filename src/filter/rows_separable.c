// rows_separable.c: separable stencils along rows and columns, and discs, in vectors; compiled once per instruction set
#include "base/vector.h"
#include "filter/rows.h"

#if VECTOR_BYTES

enum { SIDE_MAX = 2 * FILTER_REACH_MAX + 1, DISC_MAX = SIDE_MAX * SIDE_MAX };

// Makes VECTOR_BYTES bytes from the `count` neighbours that begin at from[i] + at.
typedef vec_u8 line_map(const uint8_t *const *from, int count, int at, const void *context);

static bool fits(const struct filter_arguments *arguments, int width, int step)
{
    return step * width >= VECTOR_BYTES;
}

// `count` is odd; the middle one of `from` is the pixel itself.
VECTOR_INLINE void map_places(line_map *map, const void *context, const uint8_t *const *from, int count,
                              const struct stencil_rows *rows)
{
    const int bytes = rows->step * rows->width;
    const vec_u8 alpha = (vec_u8)vec_spread_u32(rows->step == 4 ? (int)0xff000000u : 0);
    for (int x = 0; x < bytes; x += VECTOR_BYTES) {
        const int at = vector_begin(x, VECTOR_BYTES, bytes);
        vec_store_u8(rows->out[0] + at,
                     vec_choose_u8(alpha, vec_load_u8(from[count / 2] + at), map(from, count, at, context)));
    }
}

VECTOR_INLINE void map_lines(line_map *map, const void *context, const struct filter_arguments *arguments,
                             const struct stencil_rows *rows)
{
    const int radius = arguments->radius, count = 2 * radius + 1;
    const uint8_t *from[SIDE_MAX];
    for (int i = 0; i < count; i++)
        from[i] = arguments->rows > 0 ? rows->in[i] : rows->in[0] + rows->step * (i - radius);
    map_places(map, context, from, count, rows);
}

// The arguments are those of a disc (erode.cl).
VECTOR_INLINE void map_disc(line_map *map, const struct filter_arguments *arguments, const struct stencil_rows *rows)
{
    const uint8_t *from[DISC_MAX];
    const int radius = arguments->radius;
    int count = 0;
    for (int dy = -radius; dy <= radius; dy++) {
        const int reach = arguments->value[1 + (dy < 0 ? -dy : dy)];
        for (int dx = -reach; dx <= reach; dx++)
            from[count++] = rows->in[radius + dy] + rows->step * dx;
    }
    map_places(map, NULL, from, count, rows);
}

VECTOR_INLINE vec_u8 map_erode(const uint8_t *const *from, int count, int at, const void *context)
{
    vec_u8 value = vec_load_u8(from[0] + at);
    for (int i = 1; i < count; i++)
        value = vec_min_u8(value, vec_load_u8(from[i] + at));
    return value;
}

VECTOR_INLINE vec_u8 map_dilate(const uint8_t *const *from, int count, int at, const void *context)
{
    vec_u8 value = vec_load_u8(from[0] + at);
    for (int i = 1; i < count; i++)
        value = vec_max_u8(value, vec_load_u8(from[i] + at));
    return value;
}

// The weights of neighbours in pairs; the last one has no partner. The sums begin with `start`.
struct gaussian_weights {
    struct vec_weights pair[FILTER_REACH_MAX + 1];
    int start;
};

VECTOR_INLINE vec_u8 map_gaussian(const uint8_t *const *from, int count, int at, const void *context)
{
    const struct gaussian_weights *weights = context;
    const vec_u8 zero = {0};
    vec_s32 sums[4];
    for (int i = 0; i < 4; i++)
        sums[i] = vec_spread_s32(weights->start);
    for (int i = 0; i + 1 < count; i += 2)
        vec_add_products_s16(sums, vec_pair_u8(vec_load_u8(from[i] + at), vec_load_u8(from[i + 1] + at)),
                             weights->pair[i / 2], false);
    vec_add_products_s16(sums, vec_pair_u8(vec_load_u8(from[count - 1] + at), zero), weights->pair[count / 2], true);
    return vec_pack_s16(vec_pack_s32(sums[0] >> 14, sums[1] >> 14), vec_pack_s32(sums[2] >> 14, sums[3] >> 14));
}

static void erode(const struct filter_arguments *arguments, const struct stencil_rows *rows)
{
    if (arguments->whole)
        map_disc(map_erode, arguments, rows);
    else
        map_lines(map_erode, NULL, arguments, rows);
}

static void dilate(const struct filter_arguments *arguments, const struct stencil_rows *rows)
{
    if (arguments->whole)
        map_disc(map_dilate, arguments, rows);
    else
        map_lines(map_dilate, NULL, arguments, rows);
}

// All weights together are 2^14, and each byte may be VECTOR_PAIR_BIAS too small.
static void gaussian(const struct filter_arguments *arguments, const struct stencil_rows *rows)
{
    const int radius = arguments->radius;
    struct gaussian_weights weights = {.start = (1 << 13) + (VECTOR_PAIR_BIAS << 14)};
    for (int i = 0; i <= radius; i++) {
        const int first = 2 * i - radius, next = first + 1; // distances from the centre
        weights.pair[i] = vec_weights_s16(arguments->value[1 + (first < 0 ? -first : first)],
                                          i < radius ? arguments->value[1 + (next < 0 ? -next : next)] : 0);
    }
    map_lines(map_gaussian, &weights, arguments, rows);
}

const struct row_variant VECTORS_NAME(rows_separable)[] = {
    {.name = "vectors", .filter = "erode", .fits = fits, .stencil = erode, .rows = 1},
    {.name = "vectors", .filter = "dilate", .fits = fits, .stencil = dilate, .rows = 1},
    {.name = "vectors", .filter = "gaussian", .fits = fits, .stencil = gaussian, .rows = 1},
    {0},
};

#endif
