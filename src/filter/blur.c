// blur.c: the mean of a square
#include "filter/filter.h"
#include "filter/rows.h"

#include <string.h>

enum {
    SMALL_RADIUS = 7, // up to here the sums over a square, 225 bytes and their rounding, fit 16 bits
    CHUNK = 1024,     // lanes worked on at a time
};

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

// Scratch: the sums of each column over the rows in reach; for large squares also the sums over the square. Every byte
// of a pixel is a lane of its own.
static size_t scratch_bytes(const struct filter_arguments *arguments, int width)
{
    const size_t lanes = 4 * ((size_t)width + 2 * (size_t)arguments->radius);
    return lanes * (sizeof(uint16_t) + (arguments->radius > SMALL_RADIUS ? sizeof(uint32_t) : 0));
}

VECTOR_CLONES static void add_row(uint16_t *restrict sums, const uint8_t *restrict row, int lanes)
{
    for (int i = 0; i < lanes; i++)
        sums[i] = (uint16_t)(sums[i] + row[i]);
}

VECTOR_CLONES static void exchange_row(uint16_t *restrict sums, const uint8_t *restrict in, const uint8_t *restrict out,
                                       int lanes)
{
    for (int i = 0; i < lanes; i++)
        sums[i] = (uint16_t)(sums[i] + in[i] - out[i]);
}

// Means of the squares whose column sums are given, in 16-bit lanes: sum / area is sum * factor >> 16 >> shift, where
// the factor is 2^(16 + shift) / area, rounded up; exact for every sum (tried for all of them). In loops of one step
// each: only so do compilers find the processors' instruction for the upper half of a 16-bit product.
#define SMALL_MEANS(radius, factor, shift)                                                                             \
    VECTOR_CLONES static void small_means_##radius(uint8_t *restrict rgba, const uint16_t *restrict columns,           \
                                                   int lanes)                                                          \
    {                                                                                                                  \
        enum { SIDE = 2 * radius + 1, AREA = SIDE * SIDE };                                                            \
        uint16_t sum[CHUNK], mean[CHUNK];                                                                              \
        for (int first = 0; first < lanes; first += CHUNK) {                                                           \
            const int count = lanes - first < CHUNK ? lanes - first : CHUNK;                                           \
            for (int i = 0; i < count; i++) {                                                                          \
                sum[i] = AREA / 2;                                                                                     \
                for (int k = 0; k < SIDE; k++)                                                                         \
                    sum[i] = (uint16_t)(sum[i] + columns[first + i + 4 * k]);                                          \
            }                                                                                                          \
            for (int i = 0; i < count; i++)                                                                            \
                mean[i] = (uint16_t)((uint32_t)sum[i] * factor##u >> 16);                                              \
            for (int i = 0; i < count; i++)                                                                            \
                rgba[first + i] = (uint8_t)(mean[i] >> shift);                                                         \
        }                                                                                                              \
    }
SMALL_MEANS(1, 58255, 3)
SMALL_MEANS(2, 41944, 4)
SMALL_MEANS(3, 42800, 5)
SMALL_MEANS(4, 51782, 6)
SMALL_MEANS(5, 34664, 6)
SMALL_MEANS(6, 49637, 7)
SMALL_MEANS(7, 37283, 7)
#undef SMALL_MEANS

static void (*const small_means_by_radius[SMALL_RADIUS + 1])(uint8_t *restrict rgba, const uint16_t *restrict columns,
                                                             int lanes) = {
    NULL, small_means_1, small_means_2, small_means_3, small_means_4, small_means_5, small_means_6, small_means_7,
};

// Sums over squares, each from the one before it: a pixel's four lanes run side by side.
static void sum_squares(uint32_t *restrict squares, const uint16_t *restrict columns, int side, int lanes)
{
    uint32_t sum[4] = {0};
    for (int i = 0; i < 4 * (side - 1); i++)
        sum[i % 4] += columns[i];
    for (int i = 0; i < lanes; i++) {
        squares[i] = sum[i % 4] + columns[i + 4 * (side - 1)];
        sum[i % 4] = squares[i] - columns[i];
    }
}

// (sum + area / 2) / area. The quotient (2 sum' + 1) / (2 area) is at least 1 / (2 area) > 5e-4 away from every
// integer, far more than the 3e-5 that float can be off below 256, so that truncating it is exact.
VECTOR_CLONES static void divide_squares(uint8_t *restrict rgba, const uint32_t *restrict squares, int area, int lanes)
{
    const float half = 0.5f / (float)area;
    for (int i = 0; i < lanes; i++)
        rgba[i] = (uint8_t)(int)((float)(int)(2 * (squares[i] + (uint32_t)area / 2) + 1) * half);
}

static void stencil_row(const struct filter_arguments *arguments, const uint8_t *const *rows, uint8_t *rgba, int width,
                        void *scratch, bool first_row)
{
    const int radius = arguments->radius, side = 2 * radius + 1, lanes = 4 * (width + 2 * radius);
    uint16_t *columns = scratch;
    uint32_t *squares = (uint32_t *)(columns + lanes);
    if (first_row) {
        memset(columns, 0, (size_t)lanes * sizeof(*columns));
        for (int i = 0; i < side; i++)
            add_row(columns, rows[i] - 4 * radius, lanes);
    } else {
        exchange_row(columns, rows[2 * radius] - 4 * radius, rows[-1] - 4 * radius, lanes);
    }
    if (radius <= SMALL_RADIUS) {
        small_means_by_radius[radius](rgba, columns, 4 * width);
    } else {
        sum_squares(squares, columns, side, 4 * width);
        divide_squares(rgba, squares, side * side, 4 * width);
    }
    row_copy_alpha(rgba, rows[radius], width);
}

extern const struct filter filter_blur;
const struct filter filter_blur = {
    .name = "blur",
    .summary = "box blur: the mean of the square around each pixel",
    .example = "blur=3",
    .kind = FILTER_STENCIL,
    .params = params,
    .kernel = "blur.cl",
    .separable = true,
    .prepare = prepare,
    .stencil_row = stencil_row,
    .scratch_bytes = scratch_bytes,
};
