// rows_canny.c: the steps of canny in vectors; compiled once per instruction set
#include "base/vector.h"
#include "filter/rows.h"

#if VECTOR_BYTES

// PART: bytes that are made at a time, no more than the ends of a row (END_WIDTH in path/cpu_rows.c). The bytes on
// both sides have as many neighbours as RGBA pixels are wide.
enum { PART = 128, MARGIN = 4, WIDE = PART + 2 * MARGIN };

static bool fits(const struct filter_arguments *arguments, int width, int step)
{
    return step * width >= PART;
}

// Makes PART bytes. in[0..4] are the rows around the row, from these bytes on.
typedef void part_map(const uint8_t *const *in, int step, const struct filter_arguments *arguments, uint8_t *made);

VECTOR_INLINE void map_parts(part_map *map, const struct filter_arguments *arguments, const struct stencil_rows *rows)
{
    const int bytes = rows->step * rows->width;
    const vec_u8 alpha = (vec_u8)vec_spread_u32(rows->step == 4 ? (int)0xff000000u : 0);
    for (int x = 0; x < bytes; x += PART) {
        const int at = vector_begin(x, PART, bytes);
        const uint8_t *in[5];
        uint8_t made[PART];
        for (int i = 0; i < 5; i++)
            in[i] = rows->in[i] + at;
        map(in, rows->step, arguments, made);
        for (int i = 0; i < PART; i += VECTOR_BYTES)
            vec_store_u8(rows->out[0] + at + i, vec_choose_u8(alpha, vec_load_u8(in[2] + i), vec_load_u8(made + i)));
    }
}

// Gradients, from MARGIN bytes before a part on.
struct gradients {
    int16_t x[WIDE], y[WIDE], strength[WIDE];
};

VECTOR_INLINE int16_t absolute(int16_t value)
{
    return (int16_t)(value < 0 ? -value : value);
}

static void make_gradients(const uint8_t *const *in, int step, struct gradients *g)
{
    const uint8_t *above = in[0] - MARGIN, *here = in[1] - MARGIN, *below = in[2] - MARGIN;
    for (int i = MARGIN - step; i < MARGIN + PART + step; i++) {
        const int nw = above[i - step], ne = above[i + step], sw = below[i - step], se = below[i + step];
        g->x[i] = (int16_t)(ne + 2 * here[i + step] + se - nw - 2 * here[i - step] - sw);
        g->y[i] = (int16_t)(sw + 2 * below[i] + se - nw - 2 * above[i] - ne);
        g->strength[i] = (int16_t)(absolute(g->x[i]) + absolute(g->y[i]));
    }
}

VECTOR_INLINE vec_s16 choose(vec_s16 mask, vec_s16 yes, vec_s16 no)
{
    return (mask & yes) | (~mask & no);
}

// Returns 255, 128 or 0 for the gradients from number `at` on.
VECTOR_INLINE vec_s16 edge_of(const struct gradients g[3], int at, int step, int low, int high)
{
    const int16_t *above = g[0].strength + at, *here = g[1].strength + at, *below = g[2].strength + at;
    const vec_s16 x = vec_load_s16(g[1].x + at), y = vec_load_s16(g[1].y + at), strength = vec_load_s16(here);
    const vec_s16 a = vec_max_s16(x, -x), b = vec_max_s16(y, -y);
    const vec_s16 falls = (x ^ y) >= 0, flat = 29 * b <= 12 * a, steep = 29 * a <= 12 * b;
    vec_s16 before = choose(falls, vec_load_s16(above - step), vec_load_s16(below - step));
    vec_s16 after = choose(falls, vec_load_s16(below + step), vec_load_s16(above + step));
    before = choose(steep, vec_load_s16(above), choose(flat, vec_load_s16(here - step), before));
    after = choose(steep, vec_load_s16(below), choose(flat, vec_load_s16(here + step), after));
    const vec_s16 thin = (strength > (int16_t)low) & (strength > before) & (strength >= after);
    return thin & choose(strength > (int16_t)high, vec_spread_s16(255), vec_spread_s16(128));
}

// As canny_edges.cl.
VECTOR_INLINE void edges(const uint8_t *const *in, int step, const struct filter_arguments *arguments, uint8_t *made)
{
    struct gradients g[3];
    int16_t edge[PART];
    for (int i = 0; i < 3; i++)
        make_gradients(in + i, step, &g[i]);
    for (int i = 0; i < PART; i += VECTOR_BYTES / 2)
        vec_store_s16(edge + i, edge_of(g, MARGIN + i, step, arguments->value[0], arguments->value[1]));
    for (int i = 0; i < PART; i++)
        made[i] = (uint8_t)edge[i];
}

// Returns the largest of the bytes at and around byte `at`.
VECTOR_INLINE vec_u8 most_around(const uint8_t *above, const uint8_t *here, const uint8_t *below, int at, int step)
{
    vec_u8 most = {0};
    for (int i = at - step; i <= at + step; i += step)
        most = vec_max_u8(
            most, vec_max_u8(vec_load_u8(here + i), vec_max_u8(vec_load_u8(above + i), vec_load_u8(below + i))));
    return most;
}

// As canny_links.cl.
VECTOR_INLINE void links(const uint8_t *const *in, int step, const struct filter_arguments *arguments, uint8_t *made)
{
    uint8_t linked[3][WIDE];
    const vec_u8 rest = vec_spread_u8(arguments->value[0] == 1 ? 0 : 128);
    for (int row = 0; row < 3; row++) {
        const uint8_t *above = in[row] - step, *here = in[row + 1] - step, *below = in[row + 2] - step;
        for (int x = 0; x < PART + 2 * step; x += VECTOR_BYTES) {
            const int i = vector_begin(x, VECTOR_BYTES, PART + 2 * step);
            const vec_u8 most = most_around(above, here, below, i, step);
            vec_store_u8(linked[row] + i, (vec_u8)(vec_load_u8(here + i) == 128) & (vec_u8)(most == 255));
        }
    }
    for (int i = 0; i < PART; i += VECTOR_BYTES) {
        const vec_u8 c = vec_load_u8(in[2] + i), most = most_around(linked[0], linked[1], linked[2], i + step, step);
        vec_store_u8(made + i, vec_choose_u8((vec_u8)(c == 128), vec_max_u8(most, rest), c));
    }
}

#define ROW(name)                                                                                                      \
    static void name##_row(const struct filter_arguments *arguments, const struct stencil_rows *rows)                  \
    {                                                                                                                  \
        map_parts(name, arguments, rows);                                                                              \
    }
ROW(edges)
ROW(links)

const struct row_variant VECTORS_NAME(rows_canny)[] = {
    {.name = "vectors", .filter = "canny_edges", .fits = fits, .stencil = edges_row, .rows = 1},
    {.name = "vectors", .filter = "canny_links", .fits = fits, .stencil = links_row, .rows = 1},
    {0},
};

#endif
