// gaussian.c: blur with the weights of the normal distribution
#include "filter/filter.h"

#include <math.h>

enum { GAUSSIAN_ONE = 1 << 14, SIGMAS = 3 }; // the weights reach to SIGMAS standard deviations

static const struct param params[] = {
    {"sigma", PARAM_REAL, .min = 0.1f, .max = FILTER_REACH_MAX / SIGMAS, .preset = 2, .step = 0.5f,
     .help = "standard deviation in pixels"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    const double sigma = values->value[0];
    const int radius = (int)ceil(SIGMAS * sigma);
    int32_t *weight = arguments->value + 1;
    double sum = 1;
    for (int i = 1; i <= radius; i++)
        sum += 2 * exp(-i * i / (2 * sigma * sigma));
    weight[0] = GAUSSIAN_ONE;
    for (int i = 1; i <= radius; i++) {
        weight[i] = (int32_t)floor(GAUSSIAN_ONE * exp(-i * i / (2 * sigma * sigma)) / sum + 0.5);
        weight[0] -= 2 * weight[i];
    }
    arguments->radius = radius;
    arguments->count = radius + 2;
    return true;
}

extern const struct filter filter_gaussian;
const struct filter filter_gaussian = {
    .name = "gaussian",
    .summary = "blur smoothly, with the normal distribution",
    .example = "gaussian=3",
    .kind = FILTER_STENCIL,
    .params = params,
    .separable = true,
    .alpha = ALPHA_WEIGHS,
    .prepare = prepare,
};
