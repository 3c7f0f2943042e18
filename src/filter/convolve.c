// convolve.c: any square of weights, in fixed point (docs/pixels.md section 3)
#include "filter/convolve.h"
#include "filter/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SUM_LIMIT = 1 << 24, CHANNELS = 3, SIDE_MAX = 9 }; // below the limit float is exact too

static const struct param params[] = {
    {"matrix", PARAM_MATRIX, .max = 3, .step = 1, .choices = "sharpen|edge|gaussian|laplacian",
     .help = "1, 9, 25, 49 or 81 weights in row order, or a preset"},
    {"div", PARAM_REAL, .min = -1000000, .max = 1000000, .step = 1,
     .help = "divisor of the result; 0: the sum of the weights, or 1 if that sum is 0"},
    {"bias", PARAM_REAL, .min = -255, .max = 255, .step = 4, .help = "value added to the result after the division"},
    {0},
};

static const struct {
    int side;
    float weight[25];
} presets[] = {
    {3, {0, -1, 0, -1, 5, -1, 0, -1, 0}},
    {3, {-1, -1, -1, -1, 8, -1, -1, -1, -1}},
    {5, {1, 4, 6, 4, 1, 4, 16, 24, 16, 4, 6, 24, 36, 24, 6, 4, 16, 24, 16, 4, 1, 4, 6, 4, 1}},
    {3, {0, 1, 0, 1, -4, 1, 0, 1, 0}},
};

// Weights and offset with `shift` bits of fraction; false where they don't fit.
static bool quantise(const float *matrix, int count, double div, double bias, int shift,
                     struct filter_arguments *arguments)
{
    const double scale = ldexp(1, shift);
    const double offset = floor(bias * scale + 0.5);
    double reach = fabs(offset) + scale;
    for (int i = 0; i < count; i++) {
        const double weight = floor(matrix[i] / div * scale + 0.5);
        if (!(fabs(weight) <= 32767))
            return false;
        reach += 255 * fabs(weight);
        arguments->value[CONVOLVE_WEIGHTS + i] = (int32_t)weight;
    }
    if (reach >= SUM_LIMIT)
        return false;
    arguments->value[CONVOLVE_SHIFT] = shift;
    arguments->value[CONVOLVE_OFFSET] = (int32_t)offset + ((1 << shift) >> 1);
    return true;
}

// Divides by the powers of two that all weights have: the result's floor is the same, and more weights fit 8 bits.
static void reduce(int count, struct filter_arguments *arguments)
{
    int32_t *const value = arguments->value, *const weight = value + CONVOLVE_WEIGHTS;
    int32_t bits = 0;
    for (int i = 0; i < count; i++)
        bits |= weight[i];
    while (value[CONVOLVE_SHIFT] > 0 && bits % 2 == 0) {
        value[CONVOLVE_SHIFT]--;
        value[CONVOLVE_OFFSET] >>= 1;
        bits /= 2;
        for (int i = 0; i < count; i++)
            weight[i] /= 2;
    }
    value[CONVOLVE_NARROW] = 1;
    for (int i = 0; i < count; i++)
        value[CONVOLVE_NARROW] &= weight[i] >= -128 && weight[i] <= 127;
}

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    const int preset = (int)values->value[0];
    const int side = preset < 0 ? values->matrix_side : presets[preset].side;
    const float *matrix = preset < 0 ? values->matrix : presets[preset].weight;
    const int count = side * side;
    double div = values->value[1];
    if (div == 0) {
        for (int i = 0; i < count; i++)
            div += matrix[i];
        if (div == 0)
            div = 1;
    }
    arguments->radius = side / 2;
    arguments->count = CONVOLVE_WEIGHTS + count;
    for (int shift = 20; shift >= 0; shift--) {
        if (quantise(matrix, count, div, values->value[2], shift, arguments)) {
            reduce(count, arguments);
            return true;
        }
    }
    *why = "the weights divided by div are too large: at most 32767 each, at most 65792 in total";
    return false;
}

// Scratch: the rows in reach as floats, which hold whole numbers below 2^24 exactly, and the sums of a row. A plane is
// one channel of one row.
struct ring {
    int rows;      // put in so far
    float plane[]; // side x CHANNELS of width + 2 * radius, then CHANNELS of width
};

static size_t scratch_bytes(const struct filter_arguments *arguments, int width)
{
    const size_t side = 2 * (size_t)arguments->radius + 1, pixels = (size_t)width + 2 * (size_t)arguments->radius;
    return convolve_avx2_fits(width) ? 0
                                     : sizeof(struct ring) + CHANNELS * (side * pixels + (size_t)width) * sizeof(float);
}

VECTOR_CLONES static void spread_row(const uint8_t *restrict rgba, float *restrict r, float *restrict g,
                                     float *restrict b, int pixels)
{
    const pixel_word *restrict pixel = (const pixel_word *)rgba;
    for (int i = 0; i < pixels; i++) {
        const int32_t w = (int32_t)(pixel[i] & 0xffffff);
        r[i] = (float)(w & 255);
        g[i] = (float)(w >> 8 & 255);
        b[i] = (float)(w >> 16);
    }
}

// One channel: weighted sums of the planes of `side` rows.
static inline __attribute__((always_inline)) void weigh(float *restrict sum, const float *const *plane,
                                                        const float *weight, float offset, int side, int width)
{
    for (int x = 0; x < width; x++) {
        float total = offset;
#pragma GCC unroll 9
        for (int dy = 0; dy < side; dy++) {
#pragma GCC unroll 9
            for (int dx = 0; dx < side; dx++)
                total += weight[dy * side + dx] * plane[dy][x + dx];
        }
        sum[x] = total;
    }
}

#define WEIGH(side)                                                                                                    \
    VECTOR_CLONES FUSED_MULTIPLY_ADD static void weigh_##side(float *restrict sum, const float *const *plane,          \
                                                              const float *weight, float offset, int width)            \
    {                                                                                                                  \
        weigh(sum, plane, weight, offset, side, width);                                                                \
    }
WEIGH(1)
WEIGH(3)
WEIGH(5)
WEIGH(7)
WEIGH(9)
#undef WEIGH

VECTOR_CLONES static void join_row(uint8_t *restrict rgba, const uint8_t *restrict centre, const float *restrict r,
                                   const float *restrict g, const float *restrict b, int shift, int width)
{
    pixel_word *restrict to = (pixel_word *)rgba;
    const pixel_word *restrict from = (const pixel_word *)centre;
    for (int x = 0; x < width; x++) {
        const uint32_t red = (uint32_t)sat8((int)r[x] >> shift), green = (uint32_t)sat8((int)g[x] >> shift),
                       blue = (uint32_t)sat8((int)b[x] >> shift);
        to[x] = (from[x] & 0xff000000u) | blue << 16 | green << 8 | red;
    }
}
typedef void weigh_function(float *restrict sum, const float *const *plane, const float *weight, float offset,
                            int width);
static weigh_function *const weigh_by_radius[] = {weigh_1, weigh_3, weigh_5, weigh_7, weigh_9};

// The output row so many below the first.
static void make_row(const struct filter_arguments *arguments, const struct stencil_rows *rows, int number)
{
    const int width = rows->width, radius = arguments->radius, side = 2 * radius + 1, pixels = width + 2 * radius;
    const bool first = rows->first && number == 0;
    struct ring *ring = rows->scratch;
    if (first)
        ring->rows = 0;
    for (int i = first ? 0 : side - 1; i < side; i++, ring->rows++) {
        float *plane = ring->plane + (size_t)(ring->rows % side) * CHANNELS * (size_t)pixels;
        spread_row(rows->in[number + i] - 4 * radius, plane, plane + pixels, plane + 2 * pixels, pixels);
    }
    float weight[FILTER_MATRIX];
    for (int i = 0; i < side * side; i++)
        weight[i] = (float)arguments->value[CONVOLVE_WEIGHTS + i];
    float *sum = ring->plane + (size_t)side * CHANNELS * (size_t)pixels;
    for (int c = 0; c < CHANNELS; c++) {
        const float *plane[SIDE_MAX];
        for (int i = 0; i < side; i++)
            plane[i] = ring->plane + ((size_t)((ring->rows + i) % side) * CHANNELS + (size_t)c) * (size_t)pixels;
        weigh_by_radius[radius](sum + c * width, plane, weight, (float)arguments->value[CONVOLVE_OFFSET], width);
    }
    join_row(rows->out[number], rows->in[number + radius], sum, sum + width, sum + 2 * width,
             arguments->value[CONVOLVE_SHIFT], width);
}

static void stencil_row(const struct filter_arguments *arguments, const struct stencil_rows *rows)
{
    if (convolve_avx512_fits(rows->width)) {
        convolve_avx512_rows(arguments, rows);
        return;
    }
    if (convolve_avx2_fits(rows->width)) {
        convolve_avx2_rows(arguments, rows);
        return;
    }
    for (int i = 0; i < STENCIL_ROWS; i++)
        make_row(arguments, rows, i);
}

extern const struct filter filter_convolve;
const struct filter filter_convolve = {
    .name = "convolve",
    .summary = "convolve with a matrix of weights, up to 9x9",
    .example = "convolve=0 -1 0 -1 5 -1 0 -1 0:div=1:bias=0",
    .kind = FILTER_STENCIL,
    .params = params,
    .prepare = prepare,
    .stencil_row = stencil_row,
    .more_rows = STENCIL_ROWS - 1,
    .scratch_bytes = scratch_bytes,
};
