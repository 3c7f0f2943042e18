// blur.c: the mean of a square
#include "filter/blur.h"
#include "filter/filter.h"
#include "filter/rows.h"

static const struct param params[] = {
    {.name = "radius",
     .type = PARAM_INT,
     .min = 1,
     .max = FILTER_RADIUS_MAX,
     .preset = 2,
     .step = 1,
     .help = "pixels on each side; 2 is a 5x5 square"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->radius = (int)values->value[0];
    return true;
}

// Scratch: what blur_avx2.c keeps; behind it, for pixels that are not its, the sums of each column over the rows in
// reach, even and odd bytes apart; for large squares also the sums over the square.
static size_t scratch_bytes(const struct filter_arguments *arguments, int width)
{
    const int radius = arguments->radius;
    const size_t bytes = 4 * ((size_t)width + 2 * (size_t)radius);
    return radius > BLUR_SMALL_RADIUS ? bytes * (sizeof(uint16_t) + sizeof(uint32_t))
                                      : bytes * sizeof(uint16_t) + blur_avx2_bytes(radius, width);
}

VECTOR_CLONES static void add_row(uint16_t *restrict even, uint16_t *restrict odd, const byte_pair *restrict row,
                                  int pairs)
{
    for (int i = 0; i < pairs; i++) {
        even[i] = (uint16_t)(even[i] + (row[i] & 255));
        odd[i] = (uint16_t)(odd[i] + (row[i] >> 8));
    }
}

VECTOR_CLONES static void exchange_row(uint16_t *restrict even, uint16_t *restrict odd, const byte_pair *restrict in,
                                       const byte_pair *restrict out, int pairs)
{
    for (int i = 0; i < pairs; i++) {
        even[i] = (uint16_t)(even[i] + (in[i] & 255) - (out[i] & 255));
        odd[i] = (uint16_t)(odd[i] + (in[i] >> 8) - (out[i] >> 8));
    }
}

static void begin_columns(uint16_t *even, uint16_t *odd, int radius, int pairs)
{
    for (int i = 0; i < pairs; i++)
        even[i] = odd[i] = blur_begin_column(radius, i / 2);
}

// Column sums, from the left end of the first square on, and what the squares' means become.
struct squares {
    const uint16_t *even, *odd;
    const byte_pair *centre;
    byte_pair *to;
    int pairs;
};

// Means in 16-bit lanes. In loops of one step each: only so do compilers find the processors' instruction for the upper
// half of a 16-bit product.
#define SMALL_MEANS(radius, factor, shift)                                                                             \
    VECTOR_CLONES static void small_means_##radius(const struct squares *squares)                                      \
    {                                                                                                                  \
        enum { SIDE = 2 * radius + 1 };                                                                                \
        const byte_pair *restrict alpha = (const byte_pair *)row_alpha;                                                \
        uint16_t even[ROW_CHUNK], odd[ROW_CHUNK], even_mean[ROW_CHUNK], odd_mean[ROW_CHUNK];                           \
        for (int first = 0; first < squares->pairs; first += ROW_CHUNK) {                                              \
            const int count = squares->pairs - first < ROW_CHUNK ? squares->pairs - first : ROW_CHUNK;                 \
            const uint16_t *restrict evens = squares->even + first, *restrict odds = squares->odd + first;             \
            const byte_pair *restrict centre = squares->centre + first;                                                \
            byte_pair *restrict to = squares->to + first;                                                              \
            for (int i = 0; i < count; i++) {                                                                          \
                uint16_t e = 0, o = 0;                                                                                 \
                for (int k = 0; k < SIDE; k++) {                                                                       \
                    e = (uint16_t)(e + evens[i + 2 * k]);                                                              \
                    o = (uint16_t)(o + odds[i + 2 * k]);                                                               \
                }                                                                                                      \
                even[i] = e;                                                                                           \
                odd[i] = o;                                                                                            \
            }                                                                                                          \
            for (int i = 0; i < count; i++)                                                                            \
                even_mean[i] = (uint16_t)((uint32_t)even[i] * factor##u >> 16);                                        \
            for (int i = 0; i < count; i++)                                                                            \
                odd_mean[i] = (uint16_t)((uint32_t)odd[i] * factor##u >> 16);                                          \
            for (int i = 0; i < count; i++)                                                                            \
                to[i] = row_join((uint16_t)(even_mean[i] >> shift), (uint16_t)(odd_mean[i] >> shift), centre[i],       \
                                 alpha[i]);                                                                            \
        }                                                                                                              \
    }
BLUR_SMALL_RADII(SMALL_MEANS)
#undef SMALL_MEANS

#define SMALL_ENTRY(radius, factor, shift) [radius] = small_means_##radius,
static void (*const small_means[BLUR_SMALL_RADIUS + 1])(const struct squares *squares) = {
    BLUR_SMALL_RADII(SMALL_ENTRY)};
#undef SMALL_ENTRY

// Sums over squares, each from the one before it: a pixel's four bytes run side by side.
static void sum_squares(const struct squares *squares, uint32_t *restrict even, uint32_t *restrict odd, int side)
{
    const int reach = 2 * (side - 1);
    uint32_t even_sum[2] = {0}, odd_sum[2] = {0};
    for (int i = 0; i < reach; i++) {
        even_sum[i % 2] += squares->even[i];
        odd_sum[i % 2] += squares->odd[i];
    }
    for (int i = 0; i < squares->pairs; i++) {
        even[i] = even_sum[i % 2] + squares->even[i + reach];
        odd[i] = odd_sum[i % 2] + squares->odd[i + reach];
        even_sum[i % 2] = even[i] - squares->even[i];
        odd_sum[i % 2] = odd[i] - squares->odd[i];
    }
}

// sum / area. The quotient (2 sum + 1) / (2 area) is at least 1 / (2 area) > 5e-4 away from every integer, far more
// than the 3e-5 that float can be off below 256, so that truncating it is exact.
static inline uint16_t divide(uint32_t sum, float half)
{
    return (uint16_t)(int)((float)(int)(2 * sum + 1) * half);
}

VECTOR_CLONES static void large_means(byte_pair *restrict to, const byte_pair *restrict centre,
                                      const uint32_t *restrict even, const uint32_t *restrict odd, int area, int pairs)
{
    const byte_pair *restrict alpha = (const byte_pair *)row_alpha;
    const float half = 0.5f / (float)area;
    for (int i = 0; i < pairs; i++)
        to[i] = row_join(divide(even[i], half), divide(odd[i], half), centre[i], alpha[i % ROW_CHUNK]);
}

// Pixels from `first` on.
static void make_pixels(int radius, const struct stencil_rows *rows, int first, void *scratch)
{
    const int count = rows->width - first, side = 2 * radius + 1, pairs = 2 * (count + 2 * radius);
    const int left = 4 * (first - radius);
    uint16_t *even = scratch, *odd = even + pairs;
    if (rows->first) {
        begin_columns(even, odd, radius, pairs);
        for (int i = 0; i < side; i++)
            add_row(even, odd, (const byte_pair *)(rows->in[i] + left), pairs);
    } else {
        exchange_row(even, odd, (const byte_pair *)(rows->in[2 * radius] + left),
                     (const byte_pair *)(rows->in[-1] + left), pairs);
    }
    const struct squares squares = {even, odd, (const byte_pair *)(rows->in[radius] + 4 * first),
                                    (byte_pair *)(rows->out + 4 * first), 2 * count};
    if (radius <= BLUR_SMALL_RADIUS) {
        small_means[radius](&squares);
    } else {
        uint32_t *even_sums = (uint32_t *)(odd + pairs), *odd_sums = even_sums + squares.pairs;
        sum_squares(&squares, even_sums, odd_sums, side);
        large_means(squares.to, squares.centre, even_sums, odd_sums, side * side, squares.pairs);
    }
}

static void stencil_row(const struct filter_arguments *arguments, const struct stencil_rows *rows)
{
    const int radius = arguments->radius;
    uint8_t *scratch = rows->scratch;
    int done = 0;
    if (radius <= BLUR_SMALL_RADIUS) {
        done = blur_avx2_row(radius, rows);
        scratch += blur_avx2_bytes(radius, rows->width);
    }
    if (done < rows->width)
        make_pixels(radius, rows, done, scratch);
}

extern const struct filter filter_blur;
const struct filter filter_blur = {
    .name = "blur",
    .summary = "box blur: the mean of the square around each pixel",
    .example = "blur=3",
    .kind = FILTER_STENCIL,
    .params = params,
    .kernel = "blur.cl",
    .lines_radius = BLUR_SMALL_RADIUS,
    .separable = true,
    .prepare = prepare,
    .stencil_row = stencil_row,
    .scratch_bytes = scratch_bytes,
};
