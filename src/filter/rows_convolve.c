// rows_convolve.c: weighted sums of squares in vectors; compiled once per instruction set
//
// One instruction multiplies two neighbours in a row with their weights (on NEON: one instruction each). The neighbours
// are loaded once for all output rows of a call. Sums have 16 bits if the weights are small, as in all presets.
#if defined(__aarch64__) && defined(__GNUC__) && !defined(__clang__)
#pragma GCC optimize("no-schedule-insns") // GCC would load so much ahead that it runs out of registers
#endif
#include "base/vector.h"
#include "filter/rows.h"

#include <stdlib.h>

#if VECTOR_BYTES

// Builds with sanitizers have one function for all radii and do not unroll its loops: the checks in unrolled loops
// would take minutes to compile.
#if defined(__has_feature)
#define SANITIZED __has_feature(address_sanitizer)
#elif defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#endif
#if SANITIZED
#define UNROLL(count)
#else
#define UNROLL(count) UNROLL_BY(GCC unroll count)
#define UNROLL_BY(text) _Pragma(#text)
#endif

enum {
    RADIUS_MAX = 4,
    SIDE_MAX = 2 * RADIUS_MAX + 1,
    ROWS_OF_32_BITS = VECTOR_BYTES == 32 ? 2 : STENCIL_ROWS, // rows made together: the registers hold their sums
};

// A byte of the output is ((start + products) >> shift) + base, saturated. `base` keeps 16-bit sums from overflowing.
struct scale {
    int start, shift, base;
};

// Returns true if 16 bits hold all sums and all pairs of products. *scale is then the scale of such sums.
static bool has_small_sums(const struct filter_arguments *arguments, struct scale *scale)
{
    const int side = 2 * arguments->radius + 1, shift = arguments->value[CONVOLVE_SHIFT];
    int low = arguments->value[CONVOLVE_OFFSET], high = low;
    for (int i = 0; i < side * side; i++) {
        const int32_t *weight = arguments->value + CONVOLVE_WEIGHTS + i;
        const int next = i % side < side - 1 ? weight[1] : 0;
        if (weight[0] < -128 || weight[0] > 127 || abs(weight[0]) + abs(next) > 128)
            return false;
        low += weight[0] < 0 ? 255 * weight[0] : 0;
        high += weight[0] > 0 ? 255 * weight[0] : 0;
    }
    if (shift > 15)
        return false;
    const int base = (low - INT16_MIN) >> shift;
    *scale = (struct scale){arguments->value[CONVOLVE_OFFSET] - base * (1 << shift), shift, base};
    return base == (int16_t)base && high - base * (1 << shift) <= INT16_MAX;
}

// The constants of a block. `weights` has, for each row of the square, the weights of its columns in pairs; the last
// column has no partner.
struct tables {
    struct vec_weights weights[SIDE_MAX][RADIUS_MAX + 1];
    vec_u8 alpha; // mask of the bytes that are copied from the centre
};

// The sums of a block's bytes: in `small` or in `large`.
union sums {
    vec_s16 small[2];
    vec_s32 large[4];
};

VECTOR_INLINE union sums begin_sums(struct scale scale, bool small)
{
    union sums sums;
    if (small)
        sums.small[0] = sums.small[1] = vec_spread_s16(scale.start);
    else
        sums.large[0] = sums.large[1] = sums.large[2] = sums.large[3] = vec_spread_s32(scale.start);
    return sums;
}

VECTOR_INLINE vec_u8 end_sums(union sums sums, struct scale scale, bool small)
{
    const vec_s16 base = vec_spread_s16(scale.base);
    const int shift = scale.shift;
    if (small)
        return vec_pack_s16(vec_add_sat_s16(sums.small[0] >> shift, base),
                            vec_add_sat_s16(sums.small[1] >> shift, base));
    return vec_pack_s16(vec_pack_s32(sums.large[0] >> shift, sums.large[1] >> shift),
                        vec_pack_s32(sums.large[2] >> shift, sums.large[3] >> shift));
}

// Makes VECTOR_BYTES bytes of `count` rows, from byte `at` on.
VECTOR_INLINE void make_block(const struct stencil_rows *rows, const struct tables *tables, struct scale scale, int at,
                              int count, int radius, bool small)
{
    const int step = rows->step;
    const vec_u8 zero = {0};
    union sums sums[STENCIL_ROWS];
    UNROLL(4)
    for (int i = 0; i < count; i++)
        sums[i] = begin_sums(scale, small);
    UNROLL(5)
    for (int k = 0; k <= radius; k++) {
        const int left = at + step * (2 * k - radius);
        UNROLL(12)
        for (int y = 0; y < 2 * radius + count; y++) {
            const uint8_t *from = rows->in[y] + left;
            const struct vec_pairs pairs = vec_pair_u8(vec_load_u8(from), k < radius ? vec_load_u8(from + step) : zero);
            UNROLL(4)
            for (int i = 0; i < count; i++) {
                if (y < i || y - i > 2 * radius)
                    continue;
                if (small)
                    vec_add_products_s8(sums[i].small, pairs, tables->weights[y - i][k], k == radius);
                else
                    vec_add_products_s16(sums[i].large, pairs, tables->weights[y - i][k], k == radius);
            }
        }
    }
    UNROLL(4)
    for (int i = 0; i < count; i++)
        vec_store_u8(rows->out[i] + at, vec_choose_u8(tables->alpha, vec_load_u8(rows->in[i + radius] + at),
                                                      end_sums(sums[i], scale, small)));
}

VECTOR_INLINE void make_rows(const struct filter_arguments *arguments, const struct stencil_rows *rows, int radius,
                             bool small)
{
    const int side = 2 * radius + 1, bytes = rows->step * rows->width, count = small ? STENCIL_ROWS : ROWS_OF_32_BITS;
    struct scale scale = {arguments->value[CONVOLVE_OFFSET], arguments->value[CONVOLVE_SHIFT], 0};
    struct tables tables = {.alpha = (vec_u8)vec_spread_u32(rows->step == 4 ? (int)0xff000000u : 0)};
    if (small)
        has_small_sums(arguments, &scale);
    for (int i = 0; i < side * side; i++) {
        const int32_t *weight = arguments->value + CONVOLVE_WEIGHTS + i;
        const int y = i / side, x = i % side, next = x < side - 1 ? weight[1] : 0;
        if (x % 2 == 0)
            tables.weights[y][x / 2] = small ? vec_weights_s8(weight[0], next) : vec_weights_s16(weight[0], next);
        scale.start += VECTOR_PAIR_BIAS * weight[0];
    }
    for (int first = 0; first < STENCIL_ROWS; first += count) {
        struct stencil_rows part = *rows;
        part.in += first;
        part.out += first;
        for (int at = 0; at < bytes; at += VECTOR_BYTES) {
            const struct tables *known = &tables;
            __asm__("" : "+r"(known)); // without this, compilers keep the tables in registers and the sums in memory
            make_block(&part, known, scale, vector_begin(at, VECTOR_BYTES, bytes), count, radius, small);
        }
    }
}

#if SANITIZED
static void convolve(const struct filter_arguments *arguments, const struct stencil_rows *rows)
{
    struct scale scale;
    make_rows(arguments, rows, arguments->radius, has_small_sums(arguments, &scale));
}
#else
#define RADII(X) X(0) X(1) X(2) X(3) X(4)
#define MAKE(radius)                                                                                                   \
    static void small_##radius(const struct filter_arguments *arguments, const struct stencil_rows *rows)              \
    {                                                                                                                  \
        make_rows(arguments, rows, radius, true);                                                                      \
    }                                                                                                                  \
    static void large_##radius(const struct filter_arguments *arguments, const struct stencil_rows *rows)              \
    {                                                                                                                  \
        make_rows(arguments, rows, radius, false);                                                                     \
    }
#define SMALL(radius) small_##radius,
#define LARGE(radius) large_##radius,
RADII(MAKE)

static void convolve(const struct filter_arguments *arguments, const struct stencil_rows *rows)
{
    static stencil_row *const small[] = {RADII(SMALL)}, *const large[] = {RADII(LARGE)};
    struct scale scale;
    (has_small_sums(arguments, &scale) ? small : large)[arguments->radius](arguments, rows);
}
#endif

static bool fits(const struct filter_arguments *arguments, int width, int step)
{
    return step * width >= VECTOR_BYTES;
}

const struct row_variant VECTORS_NAME(rows_convolve)[] = {
    {.name = "pair products", .filter = "convolve", .fits = fits, .stencil = convolve, .rows = STENCIL_ROWS},
    {0},
};

#endif
