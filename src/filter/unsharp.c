// unsharp.c: unsharp mask
#include "filter/convolve.h"

#include <math.h>

enum { RADIUS_MAX = 4, SIDE_MAX = 2 * RADIUS_MAX + 1 };

static const struct param params[] = {
    {"radius", PARAM_INT, .min = 1, .max = RADIUS_MAX, .preset = 2, .step = 1, .help = "radius of the blur in pixels"},
    {"amount", PARAM_REAL, .min = -1, .max = 5, .preset = 1, .step = 0.25f,
     .help = "strength; 0 has no effect, values below 0 blur"},
    {"threshold", PARAM_INT, .max = 255, .step = 1, .help = "smaller differences from the blur stay"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    const int radius = (int)values->value[0], side = 2 * radius + 1;
    const double amount = values->value[1];
    double binomial[SIDE_MAX] = {1};
    float matrix[SIDE_MAX * SIDE_MAX];
    for (int i = 1; i < side; i++)
        binomial[i] = binomial[i - 1] * (side - i) / i;
    for (int i = 0; i < side * side; i++)
        matrix[i] = (float)(-amount * binomial[i / side] * binomial[i % side]);
    const double sum = ldexp(1, 4 * radius); // of the binomials' products
    matrix[side * side / 2] = (float)((1 + amount) * sum - amount * binomial[radius] * binomial[radius]);
    *why = "the amount is too large";
    if (!convolve_prepare(matrix, side, sum, 0, arguments))
        return false;
    arguments->value[arguments->count++] = (int32_t)floor(values->value[2] * fabs(amount) + 0.5);
    return true;
}

extern const struct filter filter_unsharp;
const struct filter filter_unsharp = {
    .name = "unsharp",
    .summary = "sharpen with an unsharp mask",
    .example = "unsharp=3:1.5",
    .kind = FILTER_STENCIL,
    .params = params,
    .prepare = prepare,
};
