// rows_unsharp.c: the unsharp mask in vectors; compiled once per instruction set
#include "base/vector.h"
#include "filter/rows.h"

#include <stdlib.h>

#if VECTOR_BYTES

// BIAS keeps the sums of the columns of large squares in 16 bits with a sign.
enum { LANES = VECTOR_BYTES / 2, RADIUS_MAX = 4, SMALL_RADIUS = 2, BIAS = 1 << 15 };

// The constants of a row.
struct tables {
    vec_u16 weight[RADIUS_MAX + 1]; // from the centre on
    vec_s16 pairs[RADIUS_MAX + 1];  // the weights of neighbours in pairs; the last one has no partner
};

static struct tables make_tables(const struct filter_arguments *arguments, int radius)
{
    struct tables tables;
    const int32_t *weight = arguments->value + 2;
    for (int i = 0; i <= radius; i++) {
        const int first = 2 * i - radius, next = i < radius ? weight[abs(first + 1)] : 0;
        tables.weight[i] = vec_spread_u16(weight[i]);
        tables.pairs[i] = (vec_s16)vec_spread_s32(weight[abs(first)] | next << 16);
    }
    return tables;
}

// Writes the weighted sum of each column, less BIAS for a large radius. The first column is `radius` pixels left of the
// row.
VECTOR_INLINE void sum_columns(const struct tables *tables, const struct stencil_rows *rows, int radius)
{
    const int bytes = rows->step * (rows->width + 2 * radius);
    const uint8_t *in[2 * RADIUS_MAX + 1], *prefetch = rows->prefetch[0].in;
    uint16_t *sums = rows->scratch;
    for (int i = 0; i < 2 * radius + 1; i++)
        in[i] = rows->in[i] - rows->step * radius;
    for (int x = 0; x < bytes; x += LANES) {
        const int at = vector_begin(x, LANES, bytes);
        vec_u16 sum = vec_load_half(in[radius] + at) * tables->weight[0];
        for (int i = 1; i <= radius; i++)
            sum += (vec_load_half(in[radius - i] + at) + vec_load_half(in[radius + i] + at)) * tables->weight[i];
        vec_store_u16(sums + at, radius > SMALL_RADIUS ? sum - (uint16_t)BIAS : sum);
        vec_fetch(prefetch + at);
    }
}

// Returns 16 times the means around LANES bytes, from the sums of their columns.
VECTOR_INLINE vec_s16 mean_along(const struct tables *tables, const uint16_t *sums, int step, int radius)
{
    const int shift = 4 * radius - 4, half = 1 << shift >> 1;
    if (radius <= SMALL_RADIUS) { // 16 bits hold the sum of the square
        const uint16_t *centre = sums + step * radius;
        vec_u16 sum = vec_load_u16(centre) * tables->weight[0] + (uint16_t)half;
        for (int i = 1; i <= radius; i++)
            sum += (vec_load_u16(centre - step * i) + vec_load_u16(centre + step * i)) * tables->weight[i];
        return (vec_s16)(sum >> shift);
    }
    vec_s32 low = vec_spread_s32((BIAS << 2 * radius) + half), high = low;
    for (int i = 0; i <= radius; i++) {
        const uint16_t *from = sums + step * 2 * i;
        const vec_s16 none = {0};
        const struct vec_two_s16 pairs = vec_zip_s16(vec_load_s16(from), i < radius ? vec_load_s16(from + step) : none);
        low += vec_pair_products(pairs.a, tables->pairs[i]);
        high += vec_pair_products(pairs.b, tables->pairs[i]);
    }
    return vec_pack_s32(low >> shift, high >> shift);
}

// Computes the same as unsharp.cl. vec_scale_s16 rounds a product >> 15, so the difference is multiplied by 8: that is
// the >> 12 of the kernel.
VECTOR_INLINE void make_row(const struct filter_arguments *arguments, const struct stencil_rows *rows, int radius)
{
    const int step = rows->step, bytes = step * rows->width;
    const struct tables tables = make_tables(arguments, radius);
    int16_t amounts[LANES];
    for (int i = 0; i < LANES; i++)
        amounts[i] = (int16_t)(step == 4 && i % 4 == 3 ? 0 : arguments->value[0]); // alpha stays
    const vec_s16 amount = vec_load_s16(amounts), threshold = vec_spread_s16(arguments->value[1]);
    const vec_s16 above = vec_spread_s16(INT16_MAX - 255); // sums with it are at most INT16_MAX
    const uint8_t *centre = rows->in[radius];
    uint8_t *out = rows->out[0], *prefetch = rows->prefetch[0].out;
    const uint16_t *sums = rows->scratch;
    sum_columns(&tables, rows, radius);
    for (int x = 0; x < bytes; x += LANES) {
        const int at = vector_begin(x, LANES, bytes);
        const vec_s16 c = (vec_s16)vec_load_half(centre + at);
        const vec_s16 away = (c << 4) - mean_along(&tables, sums + at, step, radius);
        const vec_s16 counts = ~(vec_s16)(vec_max_s16(away, -away) < threshold);
        const vec_s16 made = c + (vec_scale_s16(away << 3, amount) & counts);
        const vec_s16 limited = vec_add_sat_s16(made, above) - above;
        vec_store_half(out + at, (vec_u16)vec_max_s16(limited, vec_spread_s16(0)));
        vec_fetch_to_write(prefetch + at);
    }
}

#define RADII(X) X(1) X(2) X(3) X(4)
#define MAKE(radius)                                                                                                   \
    static void make_##radius(const struct filter_arguments *arguments, const struct stencil_rows *rows)               \
    {                                                                                                                  \
        make_row(arguments, rows, radius);                                                                             \
    }
#define ENTRY(radius) [radius] = make_##radius,
RADII(MAKE)

static void unsharp(const struct filter_arguments *arguments, const struct stencil_rows *rows)
{
    static stencil_row *const make[] = {RADII(ENTRY)};
    make[arguments->radius](arguments, rows);
}

static bool fits(const struct filter_arguments *arguments, int width, int step)
{
    return step * width >= LANES;
}

static size_t scratch_bytes(const struct filter_arguments *arguments, int width, int step)
{
    return sizeof(uint16_t) * (size_t)(step * (width + 2 * arguments->radius));
}

const struct row_variant VECTORS_NAME(rows_unsharp)[] = {
    {.name = "vectors",
     .filter = "unsharp",
     .fits = fits,
     .stencil = unsharp,
     .rows = 1,
     .scratch_bytes = scratch_bytes},
    {0},
};

#endif
