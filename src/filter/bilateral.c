// bilateral.c: smooths areas and keeps edges: weights by distance and difference
#include "filter/filter.h"

#include <math.h>

enum { BILATERAL_RADIUS, BILATERAL_SPACE, BILATERAL_RANGE };
enum { RADIUS_MAX = 7, RANGE_ONE = 255, SPACE_ONE = 1 << 10 }; // the sums of a larger square do not fit 32 bits

static const struct param params[] = {
    {"radius", PARAM_INT, .min = 1, .max = RADIUS_MAX, .preset = 4, .step = 1,
     .help = "pixels on each side of the middle"},
    {"sigma_space", PARAM_REAL, .min = 0.1f, .max = 20, .preset = 2, .step = 0.5f,
     .help = "standard deviation of the distance, in pixels"},
    {"sigma_range", PARAM_REAL, .min = 1, .max = 255, .preset = 25, .step = 5,
     .help = "standard deviation of the difference; larger: stronger edges vanish"},
    {0},
};

// Writes the weights of the normal distribution for 0 to count - 1.
static void write_weights(int32_t *weight, int count, int one, double sigma)
{
    for (int i = 0; i < count; i++)
        weight[i] = (int32_t)floor(one * exp(-i * i / (2 * sigma * sigma)) + 0.5);
}

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    const int radius = (int)values->value[BILATERAL_RADIUS];
    write_weights(arguments->value, FILTER_LEVELS, RANGE_ONE, values->value[BILATERAL_RANGE]);
    write_weights(arguments->value + FILTER_LEVELS, radius + 1, SPACE_ONE, values->value[BILATERAL_SPACE]);
    arguments->radius = radius;
    arguments->loops = true;
    arguments->count = FILTER_LEVELS + radius + 1;
    return true;
}

extern const struct filter filter_bilateral;
const struct filter filter_bilateral = {
    .name = "bilateral",
    .summary = "smooth areas, keep edges",
    .example = "bilateral=5:3:30",
    .kind = FILTER_STENCIL,
    .params = params,
    .prepare = prepare,
};
