// rows_blur.c: means of squares in vectors; compiled once per instruction set
//
// The code keeps the sum of each pixel's square from row to row. For the next row, one row of pixels enters the squares
// and one leaves them: the sum changes by the differences of these rows in the 2 * radius + 1 columns of the square.
//
// A block is a vector of pixels. Widened to 16 bits, two neighbouring pixels (a pair) take 16 bytes. vec_widen_u8 puts
// pairs 0, 2, ... of a block in one vector, and pairs 1, 3, ... in another vector. pairs[i] of a window holds pairs i,
// i + 2, ..., counted from the first pair of the current squares.
#include "base/vector.h"
#include "filter/rows.h"

#if VECTOR_BYTES

enum {
    PIXELS = VECTOR_BYTES / 4, // of a block
    PAIRS = PIXELS / 2,
    SMALL_RADIUS = 7,  // up to this radius, the sum of a square (255 * 225 + 112) fits 16 bits
    ROWS_TO_BEGIN = 4, // rows of large squares added per pass, so that their sums fit 16 bits
};

struct blur_window {
    vec_u16 pairs[FILTER_RADIUS_MAX + 1 + 2 * PAIRS];
};

// Returns how many blocks the newest columns of a window are ahead of the squares.
VECTOR_INLINE int count_ahead(int radius)
{
    return (radius + PAIRS - 1) / PAIRS;
}

// Moves the window by one block. `change` is the change of the new block's columns.
VECTOR_INLINE void move_window(struct blur_window *window, struct vec_two_s16 change, int radius)
{
    const int last = PAIRS * count_ahead(radius);
    vec_u16 *pairs = window->pairs;
#pragma GCC unroll 32
    for (int i = 0; i < last; i++)
        pairs[i] = pairs[i + PAIRS];
    pairs[last] = (vec_u16)change.a;
    pairs[last + 1] = (vec_u16)change.b;
#pragma GCC unroll 6
    for (int i = 2; i < PAIRS; i++)
        pairs[last - PAIRS + i] = vec_later_parts(pairs[last - PAIRS + i % 2], pairs[last + i % 2], i / 2);
}

// Returns the change of a block's squares. The square of an even pixel has the even columns of pairs 0 to radius and
// the odd columns of pairs 0 to radius - 1. The square of an odd pixel has the odd columns of pairs 0 to radius and the
// even columns of pairs 1 to radius. `first` + pairs[radius] covers pairs 0 to radius, vec_middle the other
// columns.
VECTOR_INLINE struct vec_two_u16 sum_sides(const struct blur_window *window, int radius)
{
    const vec_u16 *pairs = window->pairs, zero = {0};
    vec_u16 shared = radius > 2 ? pairs[2] : zero;
#pragma GCC unroll 16
    for (int i = 3; i < radius; i++)
        shared += pairs[i];
    const vec_u16 first = radius == 1 ? pairs[0] : pairs[0] + pairs[1] + shared;
    const vec_u16 second = radius == 1 ? pairs[1] : pairs[1] + pairs[radius] + shared;
    const vec_u16 third = radius == 1 ? pairs[2] : pairs[radius] + pairs[radius + 1] + shared;
    return (struct vec_two_u16){first + pairs[radius] + vec_middle(first, second),
                                second + pairs[radius + 1] + vec_middle(second, third)};
}

// For every value of 16 bits and every area of a square: value / area == value * factor >> 16 >> shift.
struct division {
    int area, factor, shift;
};

VECTOR_INLINE struct division divide_by_area(int radius)
{
    const int side = 2 * radius + 1, area = side * side, shift = 31 - __builtin_clz((unsigned)area);
    return (struct division){area, (1 << (16 + shift)) / area + 1, shift};
}

VECTOR_INLINE vec_u16 divide(vec_u16 sums, struct division by)
{
    return vec_upper_u16(sums, vec_spread_u16(by.factor)) >> by.shift;
}

// The sums of a block take VECTOR_BYTES lanes of scratch memory. The sum of a large square does not fit 16 bits. It is
// stored as its mean, in VECTOR_BYTES more lanes, and the remainder, which is count_spare() areas larger so that it is
// never negative.
VECTOR_INLINE int count_spare(int radius)
{
    return 255 / (2 * radius + 1) + 1;
}

VECTOR_INLINE int block_lanes(int radius)
{
    return radius > SMALL_RADIUS ? 2 * VECTOR_BYTES : VECTOR_BYTES;
}

// Changes the sums of half a block of squares. Returns the means.
VECTOR_INLINE vec_u16 change_sums(uint16_t *lanes, vec_u16 change, int radius)
{
    const struct division by = divide_by_area(radius);
    const vec_u16 sums = vec_load_u16(lanes) + change;
    if (radius <= SMALL_RADIUS) {
        vec_store_u16(lanes, sums);
        return divide(sums, by);
    }
    const vec_u16 areas = divide(sums, by) - vec_spread_u16(count_spare(radius));
    const vec_u16 means = vec_load_u16(lanes + VECTOR_BYTES) + areas;
    vec_store_u16(lanes, sums - areas * vec_spread_u16(by.area));
    vec_store_u16(lanes + VECTOR_BYTES, means);
    return means;
}

// One pass along a row. With `begin`, `count` rows enter the squares, no row leaves them and no pixels are made.
struct row_pass {
    const uint8_t *const *entering;
    int count;
    const uint8_t *in, *out, *centre; // without `begin`: the rows that enter and leave, the row of the centres
    uint8_t *to;
    uint16_t *lanes;
    int width;
    bool begin;
    vec_u8 alpha; // bits of alpha if that is copied from the centres; 0: alpha is a mean, too
    struct row_prefetch prefetch;
};

// Loads pixels from `x` on. `whole`: the row has a whole vector of them. Otherwise pixels from `end` on become 0.
VECTOR_INLINE vec_u8 load(const uint8_t *row, int x, int end, bool whole)
{
    return whole ? vec_load_u8(row + 4 * x) : vec_load_part(row + 4 * x, 4 * (end - x));
}

VECTOR_INLINE struct vec_two_s16 change_columns(const struct row_pass *pass, int x, int radius, bool whole)
{
    const int end = pass->width + radius;
    if (!pass->begin)
        return vec_weigh_u8(load(pass->in, x, end, whole), 1, load(pass->out, x, end, whole), -1);
    struct vec_two_s16 sums = {0};
    for (int i = 0; i < pass->count; i++) {
        const struct vec_two_u16 row = vec_widen_u8(load(pass->entering[i], x, end, whole));
        sums.a += (vec_s16)row.a;
        sums.b += (vec_s16)row.b;
    }
    return sums;
}

VECTOR_INLINE void make_block(const struct row_pass *pass, struct blur_window *window, int x, int radius, bool whole)
{
    const int newest = x - radius + PIXELS * count_ahead(radius);
    move_window(window, change_columns(pass, newest, radius, whole), radius);
    const struct vec_two_u16 change = sum_sides(window, radius);
    uint16_t *lanes = pass->lanes + x * (block_lanes(radius) / PIXELS);
    const vec_u16 even = change_sums(lanes, change.a, radius);
    const vec_u16 odd = change_sums(lanes + VECTOR_BYTES / 2, change.b, radius);
    if (pass->begin)
        return;
    const vec_u8 centre = load(pass->centre, x, pass->width, whole);
    const vec_u8 made = vec_choose_u8(pass->alpha, centre, vec_pack_s16((vec_s16)even, (vec_s16)odd));
    if (whole || x + PIXELS <= pass->width)
        vec_store_u8(pass->to + 4 * x, made);
    else
        memcpy(pass->to + 4 * x, &made, 4 * (size_t)(pass->width - x));
}

VECTOR_INLINE void make_pass(struct row_pass pass, int radius)
{
    const int reach = PIXELS * count_ahead(radius) - radius, end = pass.width + radius;
    struct blur_window window = {0};
    int x = 0;
    for (int first = -radius; first < reach; first += PIXELS)
        move_window(&window, change_columns(&pass, first, radius, first + PIXELS <= end), radius);
    for (; x + reach + PIXELS <= end; x += PIXELS) {
        if (!pass.begin) {
            vec_fetch(pass.prefetch.in + 4 * x);
            vec_fetch_to_write(pass.prefetch.out + 4 * x);
        }
        make_block(&pass, &window, x, radius, true);
    }
    for (; x < pass.width; x += PIXELS)
        make_block(&pass, &window, x, radius, false);
}

// Makes the sums of the first row. Adds half an area to each sum, so that the division rounds to nearest.
VECTOR_INLINE void begin_sums(const struct stencil_rows *rows, int radius)
{
    const int side = 2 * radius + 1, area = side * side, step = radius > SMALL_RADIUS ? ROWS_TO_BEGIN : side;
    const int spare = radius > SMALL_RADIUS ? count_spare(radius) * area : 0;
    uint16_t *lanes = rows->scratch;
    for (int x = 0; x < rows->width; x += PIXELS, lanes += block_lanes(radius))
        for (int i = 0; i < block_lanes(radius); i++)
            lanes[i] = (uint16_t)(i < VECTOR_BYTES ? area / 2 + spare : 0);
    for (int i = 0; i < side; i += step) {
        const int count = side - i < step ? side - i : step;
        make_pass((struct row_pass){rows->in + i, count, .lanes = rows->scratch, .width = rows->width, .begin = true},
                  radius);
    }
}

VECTOR_INLINE void make_row(const struct stencil_rows *rows, int radius, bool alpha)
{
    const uint8_t *in = rows->in[2 * radius];
    if (rows->first)
        begin_sums(rows, radius);
    make_pass((struct row_pass){.in = in,
                                .out = rows->first ? in : rows->in[-1],
                                .centre = rows->in[radius],
                                .to = rows->out[0],
                                .lanes = rows->scratch,
                                .width = rows->width,
                                .alpha = (vec_u8)vec_spread_u32(alpha ? 0 : (int)0xff000000u),
                                .prefetch = rows->prefetch[0]},
              radius);
}

#define RADII(X) X(1) X(2) X(3) X(4) X(5) X(6) X(7) X(8) X(9) X(10) X(11) X(12) X(13) X(14) X(15)
#define MAKE(radius)                                                                                                   \
    static void make_##radius(const struct stencil_rows *rows, bool alpha)                                             \
    {                                                                                                                  \
        make_row(rows, radius, alpha);                                                                                 \
    }
#define ENTRY(radius) [radius] = make_##radius,
RADII(MAKE)

static void blur(const struct filter_arguments *arguments, const struct stencil_rows *rows)
{
    static void (*const make[])(const struct stencil_rows *rows, bool alpha) = {RADII(ENTRY)};
    make[arguments->radius](rows, arguments->alpha);
}

static bool fits(const struct filter_arguments *arguments, int width, int step)
{
    return step == 4;
}

static size_t scratch_bytes(const struct filter_arguments *arguments, int width, int step)
{
    return sizeof(uint16_t) * (size_t)block_lanes(arguments->radius) * ((size_t)width / PIXELS + 1);
}

const struct row_variant VECTORS_NAME(rows_blur)[] = {
    {.name = "running sums",
     .filter = "blur",
     .fits = fits,
     .stencil = blur,
     .rows = 1,
     .scratch_bytes = scratch_bytes},
    {0},
};

#endif
