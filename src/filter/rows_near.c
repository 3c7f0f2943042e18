// rows_near.c: stencils of radius 1, and ridge, in vectors; compiled once per instruction set
#include "base/vector.h"
#include "filter/rows.h"

#if VECTOR_BYTES

// Makes VECTOR_BYTES bytes of a row, from byte `at` on. in[0..2] are the row above, the row itself and the row below.
// Neighbours in a row are `step` bytes apart.
typedef vec_u8 near_map(const uint8_t *const *in, int at, int step, const void *context);

static bool fits(const struct filter_arguments *arguments, int width, int step)
{
    return step * width >= VECTOR_BYTES;
}

VECTOR_INLINE void map_near(near_map *map, const void *context, const struct stencil_rows *rows)
{
    const uint8_t *const in[] = {rows->in[0], rows->in[1], rows->in[2]};
    uint8_t *out = rows->out[0];
    const int step = rows->step, bytes = step * rows->width;
    const vec_u8 alpha = (vec_u8)vec_spread_u32(step == 4 ? (int)0xff000000u : 0);
    int x = 0;
    for (; x + CACHE_LINE <= bytes; x += CACHE_LINE) {
        vec_fetch(rows->prefetch[0].in + x);
        vec_fetch_to_write(rows->prefetch[0].out + x);
        for (int i = x; i < x + CACHE_LINE; i += VECTOR_BYTES)
            vec_store_u8(out + i, vec_choose_u8(alpha, vec_load_u8(in[1] + i), map(in, i, step, context)));
    }
    for (; x < bytes; x += VECTOR_BYTES) {
        const int at = vector_begin(x, VECTOR_BYTES, bytes);
        vec_store_u8(out + at, vec_choose_u8(alpha, vec_load_u8(in[1] + at), map(in, at, step, context)));
    }
}

// Returns the differences of the bytes of two rows, times `weight`.
VECTOR_INLINE struct vec_two_s16 difference(const uint8_t *more, const uint8_t *less, int weight)
{
    return vec_weigh_u8(vec_load_u8(more), weight, vec_load_u8(less), -weight);
}

VECTOR_INLINE struct vec_two_s16 add(struct vec_two_s16 a, struct vec_two_s16 b)
{
    return (struct vec_two_s16){a.a + b.a, a.b + b.b};
}

// Addresses of the neighbours of a row's first byte: `bright` has weight 1, `dark` weight -1.
struct relief {
    const uint8_t *bright[3], *dark[3];
};

VECTOR_INLINE vec_u8 map_emboss(const uint8_t *const *in, int at, int step, const void *context)
{
    const struct relief *relief = context;
    const struct vec_two_s16 first = difference(relief->bright[0] + at, relief->dark[0] + at, 1);
    const struct vec_two_s16 second = difference(relief->bright[1] + at, relief->dark[1] + at, 1);
    const struct vec_two_s16 sum = add(add(first, second), difference(relief->bright[2] + at, relief->dark[2] + at, 1));
    return vec_pack_s16(sum.a + 128, sum.b + 128);
}

static void emboss(const struct filter_arguments *arguments, const struct stencil_rows *rows)
{
    struct relief relief;
    for (int i = 0, brights = 0, darks = 0; i < 9; i++) {
        const uint8_t *at = rows->in[i / 3] + rows->step * (i % 3 - 1);
        if (arguments->value[i] > 0)
            relief.bright[brights++] = at;
        else if (arguments->value[i] < 0)
            relief.dark[darks++] = at;
    }
    const struct relief kept = relief; // constant, so that compilers need not read it again after each store
    map_near(map_emboss, &kept, rows);
}

// `away` is 32 times (4 c - n - e - s - w), which is at most 32640 and so fits 16 bits.
VECTOR_INLINE vec_s16 push(vec_u16 centre, vec_s16 vertical, vec_s16 horizontal, int amount)
{
    const vec_s16 away = (vec_s16)(centre << 7) - vertical - horizontal;
    return (vec_s16)centre + vec_scale_s16(away, vec_spread_s16(4 * amount));
}

VECTOR_INLINE vec_u8 map_sharpen(const uint8_t *const *in, int at, int step, const void *context)
{
    const int32_t amount = *(const int32_t *)context;
    const struct vec_two_u16 centre = vec_widen_u8(vec_load_u8(in[1] + at));
    const struct vec_two_s16 vertical = vec_weigh_u8(vec_load_u8(in[0] + at), 32, vec_load_u8(in[2] + at), 32);
    const struct vec_two_s16 horizontal =
        vec_weigh_u8(vec_load_u8(in[1] + at - step), 32, vec_load_u8(in[1] + at + step), 32);
    return vec_pack_s16(push(centre.a, vertical.a, horizontal.a, amount),
                        push(centre.b, vertical.b, horizontal.b, amount));
}

static void sharpen(const struct filter_arguments *arguments, const struct stencil_rows *rows)
{
    const int32_t amount = arguments->value[0];
    map_near(map_sharpen, &amount, rows);
}

// Returns the roots of (across^2 + down^2) / 2^shift, rounded.
VECTOR_INLINE vec_s16 magnitude(vec_s16 across, vec_s16 down, int shift)
{
    const struct vec_two_s16 pairs = vec_zip_s16(across, down);
    const vec_s32 half = vec_spread_s32((1 << shift) >> 1);
    return vec_pack_s32(vec_root_s32((vec_pair_products(pairs.a, pairs.a) + half) >> shift),
                        vec_root_s32((vec_pair_products(pairs.b, pairs.b) + half) >> shift));
}

// The gradient with the weights `side`, `middle`, `side`.
VECTOR_INLINE vec_u8 gradient(const uint8_t *const *in, int at, int step, int side, int middle, int shift)
{
    const uint8_t *above = in[0] + at, *here = in[1] + at, *below = in[2] + at;
    const struct vec_two_s16 across =
        add(add(difference(above + step, above - step, side), difference(here + step, here - step, middle)),
            difference(below + step, below - step, side));
    const struct vec_two_s16 down =
        add(add(difference(below - step, above - step, side), difference(below, above, middle)),
            difference(below + step, above + step, side));
    return vec_pack_s16(magnitude(across.a, down.a, shift), magnitude(across.b, down.b, shift));
}

VECTOR_INLINE vec_u8 map_sobel(const uint8_t *const *in, int at, int step, const void *context)
{
    return gradient(in, at, step, 1, 2, 0);
}

VECTOR_INLINE vec_u8 map_prewitt(const uint8_t *const *in, int at, int step, const void *context)
{
    return gradient(in, at, step, 1, 1, 0);
}

VECTOR_INLINE vec_u8 map_scharr(const uint8_t *const *in, int at, int step, const void *context)
{
    return gradient(in, at, step, 3, 10, 4);
}

VECTOR_INLINE vec_u8 map_roberts(const uint8_t *const *in, int at, int step, const void *context)
{
    const struct vec_two_s16 x = difference(in[0] + at - step, in[1] + at, 1);
    const struct vec_two_s16 y = difference(in[0] + at, in[1] + at - step, 1);
    return vec_pack_s16(magnitude(x.a, y.a, 0), magnitude(x.b, y.b, 0));
}

VECTOR_INLINE vec_u8 map_laplacian(const uint8_t *const *in, int at, int step, const void *context)
{
    const struct vec_two_u16 centre = vec_widen_u8(vec_load_u8(in[1] + at));
    const struct vec_two_s16 around =
        add(vec_weigh_u8(vec_load_u8(in[0] + at), 1, vec_load_u8(in[2] + at), 1),
            vec_weigh_u8(vec_load_u8(in[1] + at - step), 1, vec_load_u8(in[1] + at + step), 1));
    const vec_s16 a = (vec_s16)(centre.a << 2) - around.a, b = (vec_s16)(centre.b << 2) - around.b;
    return vec_pack_s16(vec_max_s16(a, -a), vec_max_s16(b, -b));
}

VECTOR_INLINE vec_u8 map_deinterlace(const uint8_t *const *in, int at, int step, const void *context)
{
    const struct vec_two_u16 centre = vec_widen_u8(vec_load_u8(in[1] + at));
    const struct vec_two_s16 others = vec_weigh_u8(vec_load_u8(in[0] + at), 1, vec_load_u8(in[2] + at), 1);
    return vec_pack_s16(((vec_s16)(centre.a << 1) + others.a + 2) >> 2, ((vec_s16)(centre.b << 1) + others.b + 2) >> 2);
}

#define PLAIN(name)                                                                                                    \
    static void name(const struct filter_arguments *arguments, const struct stencil_rows *rows)                        \
    {                                                                                                                  \
        map_near(map_##name, NULL, rows);                                                                              \
    }
PLAIN(sobel)
PLAIN(prewitt)
PLAIN(scharr)
PLAIN(roberts)
PLAIN(laplacian)
PLAIN(deinterlace)

// A column of three bytes, sorted.
struct column {
    vec_u8 low, middle, high;
};

// Sorts a value and two values that are already in order.
VECTOR_INLINE struct column sort_column(vec_u8 value, vec_u8 less, vec_u8 more)
{
    return (struct column){vec_min_u8(less, value), vec_max_u8(less, vec_min_u8(more, value)), vec_max_u8(more, value)};
}

VECTOR_INLINE vec_u8 middle_of(vec_u8 a, vec_u8 b, vec_u8 c)
{
    return vec_max_u8(vec_min_u8(a, b), vec_min_u8(vec_max_u8(a, b), c));
}

VECTOR_INLINE vec_u8 median_of(const struct column c[3])
{
    const vec_u8 low = vec_max_u8(vec_max_u8(c[0].low, c[1].low), c[2].low);
    const vec_u8 high = vec_min_u8(vec_min_u8(c[0].high, c[1].high), c[2].high);
    return middle_of(low, middle_of(c[0].middle, c[1].middle, c[2].middle), high);
}

// Makes two rows. Their squares share two input rows, which are sorted once.
static void median(const struct filter_arguments *arguments, const struct stencil_rows *rows)
{
    const uint8_t *const in[] = {rows->in[0], rows->in[1], rows->in[2], rows->in[3]};
    uint8_t *out = rows->out[0], *below = rows->out[1];
    const int step = rows->step, bytes = step * rows->width;
    const vec_u8 alpha = (vec_u8)vec_spread_u32(step == 4 ? (int)0xff000000u : 0);
    for (int x = 0; x < bytes; x += VECTOR_BYTES) {
        vec_fetch(rows->prefetch[0].in + x);
        vec_fetch_to_write(rows->prefetch[0].out + x);
        vec_fetch(rows->prefetch[1].in + x);
        vec_fetch_to_write(rows->prefetch[1].out + x);
        const int at = vector_begin(x, VECTOR_BYTES, bytes);
        struct column upper[3], lower[3];
        for (int k = 0; k < 3; k++) {
            const int beside = at + step * (k - 1);
            const vec_u8 b = vec_load_u8(in[1] + beside), c = vec_load_u8(in[2] + beside);
            const vec_u8 less = vec_min_u8(b, c), more = vec_max_u8(b, c);
            upper[k] = sort_column(vec_load_u8(in[0] + beside), less, more);
            lower[k] = sort_column(vec_load_u8(in[3] + beside), less, more);
        }
        vec_store_u8(out + at, vec_choose_u8(alpha, vec_load_u8(in[1] + at), median_of(upper)));
        vec_store_u8(below + at, vec_choose_u8(alpha, vec_load_u8(in[2] + at), median_of(lower)));
    }
}

// ---- ridge ----

static int ridge_width(const struct filter_arguments *arguments)
{
    return (2 * arguments->radius + 1) / 3;
}

static bool median_fits(const struct filter_arguments *arguments, int width, int step)
{
    return arguments->radius == 1 && fits(arguments, width, step);
}

static bool ridge_fits(const struct filter_arguments *arguments, int width, int step)
{
    return ridge_width(arguments) > 1 && fits(arguments, width, step);
}

// Returns the sums of `width` neighbours of each of VECTOR_BYTES bytes.
VECTOR_INLINE struct vec_two_s16 sum_bytes(const uint8_t *from, int width, int step)
{
    struct vec_two_s16 sum = {{0}, {0}};
    for (int i = 0; i < width; i++) {
        const struct vec_two_u16 bytes = vec_widen_u8(vec_load_u8(from + step * i));
        sum = add(sum, (struct vec_two_s16){(vec_s16)bytes.a, (vec_s16)bytes.b});
    }
    return sum;
}

// Returns max(centre - max(left, right), 0) / width as products with a rounded up reciprocal. A sum is at most 255 *
// width, so the quotients are exact: up to a width of 8 with 16 bits, up to 21 with 19 bits.
VECTOR_INLINE vec_s16 rise(vec_s16 left, vec_s16 centre, vec_s16 right, vec_u16 reciprocal, int shift)
{
    const vec_s16 more = vec_max_s16(centre - vec_max_s16(left, right), vec_spread_s16(0));
    return (vec_s16)(vec_upper_u16((vec_u16)more, reciprocal) >> shift);
}

static void ridge(const struct filter_arguments *arguments, const struct stencil_rows *rows)
{
    const int width = ridge_width(arguments), step = rows->step, bytes = step * rows->width, shift = width > 8 ? 3 : 0;
    const vec_u16 reciprocal = vec_spread_u16((1 << (16 + shift)) / width + 1);
    const vec_u8 alpha = (vec_u8)vec_spread_u32(step == 4 ? (int)0xff000000u : 0);
    const uint8_t *in = rows->in[0];
    uint8_t *out = rows->out[0];
    for (int x = 0; x < bytes; x += VECTOR_BYTES) {
        const int at = vector_begin(x, VECTOR_BYTES, bytes);
        const uint8_t *bar = in + at - step * (width / 2);
        const struct vec_two_s16 left = sum_bytes(bar - step * width, width, step);
        const struct vec_two_s16 centre = sum_bytes(bar, width, step);
        const struct vec_two_s16 right = sum_bytes(bar + step * width, width, step);
        const vec_u8 made = vec_pack_s16(rise(left.a, centre.a, right.a, reciprocal, shift),
                                         rise(left.b, centre.b, right.b, reciprocal, shift));
        vec_store_u8(out + at, vec_choose_u8(alpha, vec_load_u8(in + at), made));
    }
}

const struct row_variant VECTORS_NAME(rows_near)[] = {
    {.name = "vectors", .filter = "emboss", .fits = fits, .stencil = emboss, .rows = 1},
    {.name = "vectors", .filter = "sharpen", .fits = fits, .stencil = sharpen, .rows = 1},
    {.name = "vectors", .filter = "sobel", .fits = fits, .stencil = sobel, .rows = 1},
    {.name = "vectors", .filter = "prewitt", .fits = fits, .stencil = prewitt, .rows = 1},
    {.name = "vectors", .filter = "scharr", .fits = fits, .stencil = scharr, .rows = 1},
    {.name = "vectors", .filter = "roberts", .fits = fits, .stencil = roberts, .rows = 1},
    {.name = "vectors", .filter = "laplacian", .fits = fits, .stencil = laplacian, .rows = 1},
    {.name = "vectors", .filter = "deinterlace", .fits = fits, .stencil = deinterlace, .rows = 1},
    {.name = "vectors", .filter = "median", .fits = median_fits, .stencil = median, .rows = 2},
    {.name = "vectors", .filter = "ridge", .fits = ridge_fits, .stencil = ridge, .rows = 1},
    {0},
};

#endif
