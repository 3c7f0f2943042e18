// convolve.c: any square of weights, in fixed point (docs/pixels.md section 3)
#include "filter/filter.h"
#include "filter/rows.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { SUM_LIMIT = 1 << 24 };                               // below it float is exact too, which devices may use
enum { ARGUMENT_SHIFT, ARGUMENT_OFFSET, ARGUMENT_WEIGHTS }; // offset: bias and rounding, added to the sum

static const struct param params[] = {
    {.name = "matrix",
     .type = PARAM_MATRIX,
     .max = 3,
     .step = 1,
     .choices = "sharpen|edge|gaussian|laplacian",
     .help = "1, 9, 25, 49 or 81 numbers row by row, or a preset"},
    {.name = "div",
     .type = PARAM_REAL,
     .min = -1000000,
     .max = 1000000,
     .step = 1,
     .help = "what the sum is divided by; 0: the sum of the numbers, or 1"},
    {.name = "bias", .type = PARAM_REAL, .min = -255, .max = 255, .step = 4, .help = "added to the result"},
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
        arguments->value[ARGUMENT_WEIGHTS + i] = (int32_t)weight;
    }
    if (reach >= SUM_LIMIT)
        return false;
    arguments->value[ARGUMENT_SHIFT] = shift;
    arguments->value[ARGUMENT_OFFSET] = (int32_t)offset + ((1 << shift) >> 1);
    return true;
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
    arguments->count = ARGUMENT_WEIGHTS + count;
    for (int shift = 20; shift >= 0; shift--) {
        if (quantise(matrix, count, div, values->value[2], shift, arguments))
            return true;
    }
    *why = "the numbers divided by div are too large: each may be 32767 at most, together 65792";
    return false;
}

static size_t scratch_bytes(const struct filter_arguments *arguments, int width)
{
    return 4 * (size_t)width * sizeof(int32_t);
}

VECTOR_CLONES static void add_weighted(int32_t *restrict sums, const uint8_t *restrict row, int32_t weight, int lanes)
{
    for (int i = 0; i < lanes; i++)
        sums[i] += weight * row[i];
}

VECTOR_CLONES static void shift_down(uint8_t *restrict rgba, const int32_t *restrict sums, int shift, int lanes)
{
    for (int i = 0; i < lanes; i++)
        rgba[i] = (uint8_t)row_sat8(sums[i] >> shift);
}

static void stencil_row(const struct filter_arguments *arguments, const uint8_t *const *rows, uint8_t *rgba, int width,
                        void *scratch, bool first_row)
{
    const int radius = arguments->radius, side = 2 * radius + 1, lanes = 4 * width;
    int32_t *sums = scratch;
    for (int i = 0; i < lanes; i++)
        sums[i] = arguments->value[ARGUMENT_OFFSET];
    for (int i = 0; i < side * side; i++) {
        const int32_t weight = arguments->value[ARGUMENT_WEIGHTS + i];
        if (weight != 0)
            add_weighted(sums, rows[i / side] + 4 * (i % side - radius), weight, lanes);
    }
    shift_down(rgba, sums, arguments->value[ARGUMENT_SHIFT], lanes);
    row_copy_alpha(rgba, rows[radius], width);
}

extern const struct filter filter_convolve;
const struct filter filter_convolve = {
    .name = "convolve",
    .summary = "weigh the square around each pixel with any numbers",
    .example = "convolve=0 -1 0 -1 5 -1 0 -1 0:div=1:bias=0",
    .kind = FILTER_STENCIL,
    .params = params,
    .kernel = "convolve.cl",
    .prepare = prepare,
    .stencil_row = stencil_row,
    .scratch_bytes = scratch_bytes,
};
