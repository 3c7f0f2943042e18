// rows_square.c: stencils of a whole square that vectors search; compiled once per instruction set
#include "base/vector.h"
#include "filter/rows.h"

#include <stdlib.h>

#if VECTOR_BYTES

enum { MEDIAN_REACH = 5, MEDIAN_SIDE = 2 * MEDIAN_REACH + 1, BILATERAL_SIDE = 15 };
// PART: bytes that nlmeans makes at a time, no more than the ends of a row (END_WIDTH in path/cpu_rows.c).
enum { PATCH_REACH = 3, PART = 128 };

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

// ---- weighted means ----

// The sums of weights, and of weights times bytes, for VECTOR_BYTES bytes. The order is that of vec_zip_s16.
struct mean {
    vec_s32 weights[4], sums[4];
};

VECTOR_INLINE void add_halves(vec_s32 *weights, vec_s32 *sums, vec_s16 weight0, vec_s16 weight1, vec_s16 byte0,
                              vec_s16 byte1)
{
    const struct vec_two_s16 w = vec_zip_s16(weight0, weight1), b = vec_zip_s16(byte0, byte1);
    weights[0] += vec_pair_products(w.a, vec_spread_s16(1));
    weights[1] += vec_pair_products(w.b, vec_spread_s16(1));
    sums[0] += vec_pair_products(w.a, b.a);
    sums[1] += vec_pair_products(w.b, b.b);
}

// Adds two bytes for each byte. The weights are `weight` times `factor`, at most 32767.
VECTOR_INLINE void add_two(struct mean *mean, const vec_u8 weight[2], const int factor[2], const vec_u8 byte[2])
{
    const struct vec_two_u16 w0 = vec_widen_u8(weight[0]), w1 = vec_widen_u8(weight[1]);
    const struct vec_two_u16 b0 = vec_widen_u8(byte[0]), b1 = vec_widen_u8(byte[1]);
    const uint16_t f0 = (uint16_t)factor[0], f1 = (uint16_t)factor[1];
    add_halves(mean->weights, mean->sums, (vec_s16)(w0.a * f0), (vec_s16)(w1.a * f1), (vec_s16)b0.a, (vec_s16)b1.a);
    add_halves(mean->weights + 2, mean->sums + 2, (vec_s16)(w0.b * f0), (vec_s16)(w1.b * f1), (vec_s16)b0.b,
               (vec_s16)b1.b);
}

// Returns the rounded quotients. A double is exact for 32 bits, and its quotient is never rounded up to a whole number.
VECTOR_INLINE vec_u8 mean_of(const struct mean *mean)
{
    vec_s32 quotient[4];
    for (int i = 0; i < 4; i++) {
        for (size_t k = 0; k < sizeof(vec_s32) / sizeof(int32_t); k++)
            quotient[i][k] =
                (int32_t)((double)(mean->sums[i][k] + mean->weights[i][k] / 2) / (double)mean->weights[i][k]);
    }
    return vec_pack_s16(vec_pack_s32(quotient[0], quotient[1]), vec_pack_s32(quotient[2], quotient[3]));
}

// The places of a square, and the weight of each.
struct square {
    const uint8_t *from[BILATERAL_SIDE * BILATERAL_SIDE + 1];
    int near[BILATERAL_SIDE * BILATERAL_SIDE + 1];
    int count; // even
};

static void fill_square(struct square *square, const struct filter_arguments *arguments,
                        const struct stencil_rows *rows)
{
    const int radius = arguments->radius;
    const int32_t *space = arguments->value + FILTER_LEVELS;
    square->count = 0;
    for (int dy = -radius; dy <= radius; dy++) {
        for (int dx = -radius; dx <= radius; dx++) {
            square->from[square->count] = rows->in[radius + dy] + rows->step * dx;
            square->near[square->count] = (space[abs(dy)] * space[abs(dx)] + 4096) >> 13;
            square->count += square->near[square->count] > 0;
        }
    }
    if (square->count % 2 == 1) {
        square->from[square->count] = rows->in[radius];
        square->near[square->count++] = 0;
    }
}

// As bilateral.cl.
static void bilateral(const struct filter_arguments *arguments, const struct stencil_rows *rows)
{
    struct square square;
    uint8_t entries[FILTER_LEVELS];
    for (int i = 0; i < FILTER_LEVELS; i++)
        entries[i] = (uint8_t)arguments->value[i];
    const struct vec_table table = vec_load_table(entries);
    fill_square(&square, arguments, rows);
    const uint8_t *centre = rows->in[arguments->radius];
    const int bytes = rows->step * rows->width;
    const vec_u8 alpha = (vec_u8)vec_spread_u32(rows->step == 4 ? (int)0xff000000u : 0);
    for (int x = 0; x < bytes; x += VECTOR_BYTES) {
        const int at = vector_begin(x, VECTOR_BYTES, bytes);
        const vec_u8 c = vec_load_u8(centre + at);
        struct mean mean = {{{0}}, {{0}}};
        for (int i = 0; i < square.count; i += 2) {
            const vec_u8 n[2] = {vec_load_u8(square.from[i] + at), vec_load_u8(square.from[i + 1] + at)};
            const vec_u8 weight[2] = {vec_look_up(&table, vec_max_u8(n[0], c) - vec_min_u8(n[0], c)),
                                      vec_look_up(&table, vec_max_u8(n[1], c) - vec_min_u8(n[1], c))};
            add_two(&mean, weight, square.near + i, n);
        }
        vec_store_u8(rows->out[0] + at, vec_choose_u8(alpha, c, mean_of(&mean)));
    }
}

// ---- non-local means ----

// Writes the number of the weight for each byte, 0 to 255, from the sums of `side` neighbours of their columns' sums.
VECTOR_INLINE void number_weights(const int32_t *columns, int side, int step, int shift, uint8_t *numbers)
{
    for (int i = 0; i < PART; i++) {
        int32_t sum = 0;
        for (int k = 0; k < side; k++)
            sum += columns[i + step * k];
        sum >>= shift;
        numbers[i] = (uint8_t)(sum < 255 ? sum : 255);
    }
}

// Compares the bytes from `at` on, and around them, with those `away` bytes further in the row `down` rows below.
VECTOR_INLINE void compare(const struct filter_arguments *arguments, const struct stencil_rows *rows, int at, int away,
                           int down, uint8_t *numbers)
{
    const int patch = arguments->value[0], step = rows->step, first = at - step * patch;
    int32_t columns[PART + 2 * PATCH_REACH * 4] = {0};
    for (int dy = -patch; dy <= patch; dy++) {
        const uint8_t *a = rows->in[arguments->radius + dy] + first;
        const uint8_t *b = rows->in[arguments->radius + dy + down] + first + away;
        for (int i = 0; i < PART + 2 * patch * step; i++)
            columns[i] += (a[i] - b[i]) * (a[i] - b[i]);
    }
    if (patch == 1)
        number_weights(columns, 3, step, arguments->value[1], numbers);
    else
        number_weights(columns, 2 * patch + 1, step, arguments->value[1], numbers);
}

static bool nlmeans_fits(const struct filter_arguments *arguments, int width, int step)
{
    return step * width >= PART;
}

// As nlmeans.cl. Places are in pairs, a place and its mirror, so the centre is never one of them.
static void nlmeans(const struct filter_arguments *arguments, const struct stencil_rows *rows)
{
    enum { VECTORS_OF_PART = PART / VECTOR_BYTES };
    const int radius = arguments->radius, reach = radius - arguments->value[0], step = rows->step;
    const int bytes = step * rows->width, side = 2 * reach + 1, one[] = {1, 1};
    uint8_t entries[FILTER_LEVELS], numbers[2][PART];
    for (int i = 0; i < FILTER_LEVELS; i++)
        entries[i] = (uint8_t)arguments->value[2 + i];
    const struct vec_table table = vec_load_table(entries);
    const vec_u8 alpha = (vec_u8)vec_spread_u32(step == 4 ? (int)0xff000000u : 0), none = {0};
    for (int x = 0; x < bytes; x += PART) {
        const int at = vector_begin(x, PART, bytes);
        struct mean mean[VECTORS_OF_PART] = {{{{0}}, {{0}}}};
        for (int v = 0; v < VECTORS_OF_PART; v++) {
            const vec_u8 weight[] = {vec_spread_u8(255), none};
            const vec_u8 byte[] = {vec_load_u8(rows->in[radius] + at + v * VECTOR_BYTES), none};
            add_two(&mean[v], weight, one, byte);
        }
        for (int place = 0; place < side * side / 2; place++) {
            const int down = place / side - reach, away = step * (place % side - reach);
            compare(arguments, rows, at, away, down, numbers[0]);
            compare(arguments, rows, at, -away, -down, numbers[1]);
            for (int v = 0; v < VECTORS_OF_PART; v++) {
                const int i = v * VECTOR_BYTES;
                const vec_u8 byte[] = {vec_load_u8(rows->in[radius + down] + at + i + away),
                                       vec_load_u8(rows->in[radius - down] + at + i - away)};
                const vec_u8 weight[] = {vec_look_up(&table, vec_load_u8(numbers[0] + i)),
                                         vec_look_up(&table, vec_load_u8(numbers[1] + i))};
                add_two(&mean[v], weight, one, byte);
            }
        }
        for (int i = 0; i < PART; i += VECTOR_BYTES)
            vec_store_u8(rows->out[0] + at + i, vec_choose_u8(alpha, vec_load_u8(rows->in[radius] + at + i),
                                                              mean_of(&mean[i / VECTOR_BYTES])));
    }
}

const struct row_variant VECTORS_NAME(rows_square)[] = {
    {.name = "vectors", .filter = "median", .fits = fits, .stencil = median, .rows = 1},
    {.name = "vectors", .filter = "bilateral", .fits = fits, .stencil = bilateral, .rows = 1},
    {.name = "vectors", .filter = "nlmeans", .fits = nlmeans_fits, .stencil = nlmeans, .rows = 1},
    {0},
};

#endif
