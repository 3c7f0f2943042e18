// rows_square.c: stencils of a whole square that vectors search; compiled once per instruction set
#include "base/vector.h"
#include "filter/rows.h"

#if VECTOR_BYTES

enum { MEDIAN_REACH = 5, MEDIAN_SIDE = 2 * MEDIAN_REACH + 1 };

static bool fits(const struct filter_arguments *arguments, int width, int step)
{
    return step * width >= VECTOR_BYTES;
}

// Returns the medians around VECTOR_BYTES bytes, from byte `at` on. As median_searched in median.cl.
VECTOR_INLINE vec_u8 search(const uint8_t *const *in, int radius, int at, int step)
{
    const int side = 2 * radius + 1;
    const vec_u8 half = vec_spread_u8(side * side / 2);
    vec_u8 found = {0};
    for (int bit = 128; bit > 0; bit /= 2) {
        const vec_u8 value = found + (uint8_t)bit;
        vec_u8 below = {0};
        for (int i = 0; i < side; i++) {
            const uint8_t *from = in[i] + at - step * radius;
            for (int k = 0; k < side; k++)
                below -= (vec_u8)(vec_load_u8(from + step * k) < value);
        }
        found += (vec_u8)(below <= half) & (uint8_t)bit;
    }
    return found;
}

// Callers pass constants as `radius` and `step`.
VECTOR_INLINE void search_row(const struct stencil_rows *rows, int radius, int step)
{
    const uint8_t *in[MEDIAN_SIDE];
    for (int i = 0; i < 2 * radius + 1; i++)
        in[i] = rows->in[i];
    const int bytes = step * rows->width;
    const vec_u8 alpha = (vec_u8)vec_spread_u32(step == 4 ? (int)0xff000000u : 0);
    for (int x = 0; x < bytes; x += VECTOR_BYTES) {
        const int at = vector_begin(x, VECTOR_BYTES, bytes);
        vec_store_u8(rows->out[0] + at,
                     vec_choose_u8(alpha, vec_load_u8(in[radius] + at), search(in, radius, at, step)));
    }
}

static void median(const struct filter_arguments *arguments, const struct stencil_rows *rows)
{
    if (arguments->radius == 2 && rows->step == 4)
        search_row(rows, 2, 4);
    else if (arguments->radius == 3 && rows->step == 4)
        search_row(rows, 3, 4);
    else
        search_row(rows, arguments->radius, rows->step);
}

const struct row_variant VECTORS_NAME(rows_square)[] = {
    {.name = "vectors", .filter = "median", .fits = fits, .stencil = median, .rows = 1},
    {0},
};

#endif
