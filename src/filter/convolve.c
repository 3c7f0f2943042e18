// convolve.c: any square of weights, in fixed point (docs/pixels.md section 3)
#include "filter/rows.h"

#include <math.h>

enum { SUM_LIMIT = 1 << 24 }; // below the limit float is exact too

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

// Computes weights and offset with `shift` fraction bits. False: they do not fit.
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

// Divides by the powers of two that all weights share. The result's floor stays the same, and more weights fit 8 bits.
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
    const int side = preset < 0 ? (int)lround(sqrt(values->matrix_count)) : presets[preset].side;
    const float *matrix = preset < 0 ? values->matrix : presets[preset].weight;
    const int count = side * side;
    double div = values->value[1];
    if (div == 0) {
        for (int i = 0; i < count; i++)
            div += matrix[i];
        if (div == 0)
            div = 1;
    }
    *why = "the weights divided by div are too large: at most 32767 each, at most 65792 in total";
    arguments->radius = side / 2;
    arguments->count = CONVOLVE_WEIGHTS + count;
    for (int shift = 20; shift >= 0; shift--) {
        if (quantise(matrix, count, div, values->value[2], shift, arguments)) {
            reduce(count, arguments);
            return true;
        }
    }
    return false;
}

extern const struct filter filter_convolve;
const struct filter filter_convolve = {
    .name = "convolve",
    .summary = "convolve with a matrix of weights, up to 9x9",
    .example = "convolve=0 -1 0 -1 5 -1 0 -1 0:div=1:bias=0",
    .kind = FILTER_STENCIL,
    .params = params,
    .prepare = prepare,
};
