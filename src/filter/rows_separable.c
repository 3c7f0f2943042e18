// rows_separable.c: separable stencils along rows and columns, and discs, in vectors; compiled once per instruction set
#include "base/vector.h"
#include "filter/rows.h"

#if VECTOR_BYTES

// TOGETHER: rows, or parts of a row, that make_sums makes at once. They share their input, and their sums fit into the
// registers.
enum {
    SIDE_MAX = 2 * FILTER_REACH_MAX + 1,
    SMALL_SIDE = 7,
    TOGETHER = VECTOR_BYTES == 32 ? 2 : STENCIL_ROWS,
    PART_PIXELS = VECTOR_BYTES / 4,
};

// Where the rows of a call are stored. A copy, because compilers would reload the pointers after each store.
struct places {
    uint8_t *out[STENCIL_ROWS];
    const uint8_t *centre[STENCIL_ROWS]; // have the alpha
    struct row_prefetch prefetch[STENCIL_ROWS];
    vec_u8 alpha; // mask
};

VECTOR_INLINE struct places places_of(const struct filter_arguments *arguments, const struct stencil_rows *rows,
                                      int count)
{
    struct places places = {.alpha =
                                (vec_u8)vec_spread_u32(rows->step == 4 && !arguments->alpha ? (int)0xff000000u : 0)};
    for (int i = 0; i < count; i++) {
        places.out[i] = rows->out[i];
        places.centre[i] = rows->in[arguments->rows + i];
        places.prefetch[i] = rows->prefetch[i];
    }
    return places;
}

// Stores bytes of output row `row`, from byte `at` on.
VECTOR_INLINE void store(const struct places *places, int row, int at, vec_u8 made)
{
    vec_fetch(places->prefetch[row].in + at);
    vec_fetch_to_write(places->prefetch[row].out + at);
    vec_store_u8(places->out[row] + at, vec_choose_u8(places->alpha, vec_load_u8(places->centre[row] + at), made));
}

static bool fits(int width, int step)
{
    return step * width >= VECTOR_BYTES;
}

static bool rows_fit(const struct filter_arguments *arguments, int width, int step)
{
    return arguments->part == FILTER_ALONG_ROWS && fits(width, step);
}

static bool columns_fit(const struct filter_arguments *arguments, int width, int step)
{
    return arguments->part == FILTER_ALONG_COLUMNS && fits(width, step);
}

// ---- minima and maxima ----

typedef vec_u8 picker(vec_u8 a, vec_u8 b); // returns the smaller bytes, or the larger ones

// Makes STENCIL_ROWS rows from columns. Most input rows belong to all of them. `worst`: the value that never wins
// against another one.
VECTOR_INLINE void pick_columns(picker *pick, int worst, const struct filter_arguments *arguments,
                                const struct stencil_rows *rows)
{
    const int radius = arguments->radius, bytes = rows->step * rows->width;
    const uint8_t *in[SIDE_MAX + STENCIL_ROWS - 1];
    for (int i = 0; i < 2 * radius + STENCIL_ROWS; i++)
        in[i] = rows->in[i];
    const uint8_t *const *below = in + 2 * radius + 1;
    const struct places places = places_of(arguments, rows, STENCIL_ROWS);
    for (int x = 0; x < bytes; x += VECTOR_BYTES) {
        const int at = vector_begin(x, VECTOR_BYTES, bytes);
        vec_u8 shared = vec_spread_u8(worst);
        for (int i = 3; i <= 2 * radius; i++)
            shared = pick(shared, vec_load_u8(in[i] + at));
        const vec_u8 upper = vec_load_u8(in[2] + at), lower = vec_load_u8(below[0] + at);
        const vec_u8 up = pick(pick(shared, upper), vec_load_u8(in[1] + at));
        const vec_u8 down = pick(pick(shared, lower), vec_load_u8(below[1] + at));
        store(&places, 0, at, pick(up, vec_load_u8(in[0] + at)));
        store(&places, 1, at, pick(up, lower));
        store(&places, 2, at, pick(down, upper));
        store(&places, 3, at, pick(down, vec_load_u8(below[2] + at)));
    }
}

// `from` has, at each pixel, the minimum or maximum of a span: of this pixel and the next ones. Writes that of spans of
// twice the length to `to`, which has `bytes` bytes. `to` is `from`, or does not overlap it.
VECTOR_INLINE void double_span(picker *pick, const uint8_t *from, uint8_t *to, int bytes, int span_bytes)
{
    for (int x = 0; x < bytes; x += VECTOR_BYTES) {
        const int at = from == to ? x : vector_begin(x, VECTOR_BYTES, bytes);
        vec_store_u8(to + at, pick(vec_load_u8(from + at), vec_load_u8(from + at + span_bytes)));
    }
}

static size_t line_bytes(const struct filter_arguments *arguments, int width, int step)
{
    return (size_t)(step * (width + 2 * arguments->radius) + VECTOR_BYTES);
}

VECTOR_INLINE void pick_row(picker *pick, const struct filter_arguments *arguments, const struct stencil_rows *rows)
{
    const int step = rows->step, side = 2 * arguments->radius + 1, bytes = step * rows->width;
    const struct places places = places_of(arguments, rows, 1);
    const uint8_t *line = rows->in[0] - step * arguments->radius;
    int span = 1;
    for (; 2 * span <= side; span *= 2) {
        double_span(pick, line, rows->scratch, bytes + step * (side - 2 * span), step * span);
        line = rows->scratch;
    }
    for (int x = 0; x < bytes; x += VECTOR_BYTES) {
        const int at = vector_begin(x, VECTOR_BYTES, bytes);
        store(&places, 0, at, pick(vec_load_u8(line + at), vec_load_u8(line + at + step * (side - span))));
    }
}

// Picks the pixels of a chord, whose ends are two spans of a line, into a row.
VECTOR_INLINE void add_chord(picker *pick, const uint8_t *left, const uint8_t *right, uint8_t *to, int bytes,
                             bool first)
{
    for (int x = 0; x < bytes; x += VECTOR_BYTES) {
        const int at = vector_begin(x, VECTOR_BYTES, bytes);
        const vec_u8 chord = pick(vec_load_u8(left + at), vec_load_u8(right + at));
        vec_store_u8(to + at, first ? chord : pick(chord, vec_load_u8(to + at)));
    }
}

// Adds the chords of `span` to 2 * `span` - 1 pixels in input row `row` to all rows. `line` is this row after
// double_span, with spans of `span` pixels. Returns the number of pixels of the row's longest chord.
VECTOR_INLINE int add_chords(picker *pick, const struct filter_arguments *arguments, const struct stencil_rows *rows,
                             int row, const uint8_t *line, int span)
{
    const int radius = arguments->radius, step = rows->step;
    int most = 0;
    for (int i = 0; i < STENCIL_ROWS; i++) {
        const int down = row - i - radius, away = down < 0 ? -down : down;
        if (away > radius)
            continue;
        const int reach = arguments->value[1 + away], chord = 2 * reach + 1;
        most = chord > most ? chord : most;
        if (chord >= span && chord < 2 * span)
            add_chord(pick, line + step * (radius - reach), line + step * (radius + reach + 1 - span), rows->out[i],
                      step * rows->width, down == -radius);
    }
    return most;
}

// Makes STENCIL_ROWS rows of discs. The arguments are those of a disc (erode.cl).
VECTOR_INLINE void pick_discs(picker *pick, const struct filter_arguments *arguments, const struct stencil_rows *rows)
{
    const int step = rows->step, radius = arguments->radius, side = 2 * radius + 1, bytes = step * rows->width;
    for (int row = 0; row < side + STENCIL_ROWS - 1; row++) {
        const uint8_t *line = rows->in[row] - step * radius;
        for (int span = 1; 2 * span <= add_chords(pick, arguments, rows, row, line, span); span *= 2) {
            double_span(pick, line, rows->scratch, bytes + step * (side - 2 * span), step * span);
            line = rows->scratch;
        }
    }
    const struct places places = places_of(arguments, rows, STENCIL_ROWS);
    for (int x = 0; step == 4 && x < bytes; x += VECTOR_BYTES) {
        const int at = vector_begin(x, VECTOR_BYTES, bytes);
        for (int i = 0; i < STENCIL_ROWS; i++)
            store(&places, i, at, vec_load_u8(places.out[i] + at));
    }
}

static bool discs_fit(const struct filter_arguments *arguments, int width, int step)
{
    return arguments->whole && fits(width, step);
}

// Makes a row of small discs, which have few pixels.
VECTOR_INLINE void pick_small_disc(picker *pick, const struct filter_arguments *arguments,
                                   const struct stencil_rows *rows)
{
    const int radius = arguments->radius, bytes = rows->step * rows->width;
    const struct places places = places_of(arguments, rows, 1);
    const uint8_t *from[SMALL_SIDE * SMALL_SIDE];
    int count = 0;
    for (int dy = -radius; dy <= radius; dy++) {
        const int reach = arguments->value[1 + (dy < 0 ? -dy : dy)];
        for (int dx = -reach; dx <= reach; dx++)
            from[count++] = rows->in[radius + dy] + rows->step * dx;
    }
    for (int x = 0; x < bytes; x += VECTOR_BYTES) {
        const int at = vector_begin(x, VECTOR_BYTES, bytes);
        vec_u8 picked = vec_load_u8(from[0] + at);
        for (int i = 1; i < count; i++)
            picked = pick(picked, vec_load_u8(from[i] + at));
        store(&places, 0, at, picked);
    }
}

static bool small_discs_fit(const struct filter_arguments *arguments, int width, int step)
{
    return discs_fit(arguments, width, step) && 2 * arguments->radius + 1 <= SMALL_SIDE;
}

#define PICKS(name, pick, worst)                                                                                       \
    static void name##_row(const struct filter_arguments *arguments, const struct stencil_rows *rows)                  \
    {                                                                                                                  \
        pick_row(pick, arguments, rows);                                                                               \
    }                                                                                                                  \
    static void name##_columns(const struct filter_arguments *arguments, const struct stencil_rows *rows)              \
    {                                                                                                                  \
        pick_columns(pick, worst, arguments, rows);                                                                    \
    }                                                                                                                  \
    static void name##_discs(const struct filter_arguments *arguments, const struct stencil_rows *rows)                \
    {                                                                                                                  \
        pick_discs(pick, arguments, rows);                                                                             \
    }                                                                                                                  \
    static void name##_small_disc(const struct filter_arguments *arguments, const struct stencil_rows *rows)           \
    {                                                                                                                  \
        pick_small_disc(pick, arguments, rows);                                                                        \
    }
PICKS(erode, vec_min_u8, 255)
PICKS(dilate, vec_max_u8, 0)

// ---- gaussian ----

// The weights of neighbours in pairs. Even pairs begin with an even neighbour, odd pairs with an odd one. The last even
// pair and the first odd pair have only one neighbour. The sums begin with `start`.
struct gaussian_weights {
    struct vec_weights even[FILTER_REACH_MAX + 1], odd[FILTER_REACH_MAX + 1];
    int start;
};

// All weights together are 2^14, and each byte may be VECTOR_PAIR_BIAS too small.
static void fill_weights(struct gaussian_weights *weights, const struct filter_arguments *arguments)
{
    const int radius = arguments->radius;
    int32_t weight[1 + SIDE_MAX + 1] = {0};
    for (int i = 0; i <= 2 * radius; i++)
        weight[1 + i] = arguments->value[1 + (i < radius ? radius - i : i - radius)];
    for (int i = 0; i <= radius; i++) {
        weights->even[i] = vec_weights_s16(weight[1 + 2 * i], weight[2 + 2 * i]);
        weights->odd[i] = vec_weights_s16(weight[2 * i], weight[1 + 2 * i]);
    }
    weights->start = (1 << 13) + (VECTOR_PAIR_BIAS << 14);
}

// Makes `count` vectors from byte `at` on. The first neighbour of vector i is neighbour i * `apart`.
VECTOR_INLINE void make_sums(const struct gaussian_weights *weights, int radius, const uint8_t *const *from, int at,
                             int count, int apart, vec_u8 *made)
{
    vec_s32 sums[STENCIL_ROWS][4];
#pragma GCC unroll 4
    for (int i = 0; i < count; i++)
        sums[i][0] = sums[i][1] = sums[i][2] = sums[i][3] = vec_spread_s32(weights->start);
    for (int k = 0; k <= radius + (count - 1) * apart / 2; k++) {
        const struct vec_pairs pairs = vec_pair_u8(vec_load_u8(from[2 * k] + at), vec_load_u8(from[2 * k + 1] + at));
#pragma GCC unroll 4
        for (int i = 0; i < count; i++) {
            const int own = k - i * apart / 2;
            if (own >= 0 && own <= radius)
                vec_add_products_s16(sums[i], pairs, i * apart % 2 == 0 ? weights->even[own] : weights->odd[own],
                                     false);
        }
    }
#pragma GCC unroll 4
    for (int i = 0; i < count; i++)
        made[i] = vec_pack_s16(vec_pack_s32(sums[i][0] >> 14, sums[i][1] >> 14),
                               vec_pack_s32(sums[i][2] >> 14, sums[i][3] >> 14));
}

static void gaussian_columns(const struct filter_arguments *arguments, const struct stencil_rows *rows)
{
    const int radius = arguments->radius, bytes = rows->step * rows->width;
    const uint8_t *from[SIDE_MAX + TOGETHER - 1];
    const struct places places = places_of(arguments, rows, TOGETHER);
    struct gaussian_weights weights;
    fill_weights(&weights, arguments);
    for (int i = 0; i < 2 * radius + TOGETHER; i++)
        from[i] = rows->in[i];
    for (int x = 0; x < bytes; x += VECTOR_BYTES) {
        const int at = vector_begin(x, VECTOR_BYTES, bytes);
        vec_u8 made[TOGETHER];
        make_sums(&weights, radius, from, at, TOGETHER, 1, made);
        for (int i = 0; i < TOGETHER; i++)
            store(&places, i, at, made[i]);
    }
}

// Makes a row in parts of `count` vectors. Each vector's first neighbour is `apart` neighbours after that of the one
// before.
VECTOR_INLINE void make_parts(const struct filter_arguments *arguments, const struct stencil_rows *rows, int count,
                              int apart)
{
    const int radius = arguments->radius, step = rows->step, bytes = step * rows->width;
    const int last = 2 * radius + (count - 1) * apart;
    const uint8_t *from[SIDE_MAX + (STENCIL_ROWS - 1) * PART_PIXELS + 1];
    const struct places places = places_of(arguments, rows, 1);
    struct gaussian_weights weights;
    fill_weights(&weights, arguments);
    for (int i = 0; i <= last + 1; i++) // the last pair has one neighbour
        from[i] = rows->in[0] + step * ((i < last ? i : last) - radius);
    for (int x = 0; x < bytes; x += count * VECTOR_BYTES) {
        const int at = vector_begin(x, count * VECTOR_BYTES, bytes);
        vec_u8 made[STENCIL_ROWS];
        make_sums(&weights, radius, from, at, count, apart, made);
        for (int i = 0; i < count; i++)
            store(&places, 0, at + i * VECTOR_BYTES, made[i]);
    }
}

static void gaussian_row(const struct filter_arguments *arguments, const struct stencil_rows *rows)
{
    // Then most neighbours belong to several vectors.
    const bool shares = rows->step == 4 && arguments->radius >= PART_PIXELS;
    if (shares && rows->width >= TOGETHER * PART_PIXELS)
        make_parts(arguments, rows, TOGETHER, PART_PIXELS);
    else
        make_parts(arguments, rows, 1, 0);
}

#define ROW(it)                                                                                                        \
    {                                                                                                                  \
        .name = "vectors", .filter = #it, .fits = rows_fit, .stencil = it##_row, .rows = 1,                            \
        .scratch_bytes = line_bytes                                                                                    \
    }
#define COLUMNS(it, count)                                                                                             \
    {                                                                                                                  \
        .name = "vectors", .filter = #it, .fits = columns_fit, .stencil = it##_columns, .rows = count                  \
    }
#define SMALL_DISC(it)                                                                                                 \
    {                                                                                                                  \
        .name = "vectors", .filter = #it, .fits = small_discs_fit, .stencil = it##_small_disc, .rows = 1               \
    }
#define DISCS(it)                                                                                                      \
    {                                                                                                                  \
        .name = "vectors", .filter = #it, .fits = discs_fit, .stencil = it##_discs, .rows = STENCIL_ROWS,              \
        .scratch_bytes = line_bytes                                                                                    \
    }

const struct row_variant VECTORS_NAME(rows_separable)[] = {
    ROW(erode),
    COLUMNS(erode, STENCIL_ROWS),
    SMALL_DISC(erode),
    DISCS(erode),
    ROW(dilate),
    COLUMNS(dilate, STENCIL_ROWS),
    SMALL_DISC(dilate),
    DISCS(dilate),
    ROW(gaussian),
    COLUMNS(gaussian, TOGETHER),
    {0},
};

#endif
