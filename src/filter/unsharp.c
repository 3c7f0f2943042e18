// unsharp.c: unsharp mask
#include "filter/filter.h"

#include <math.h>

enum { RADIUS_MAX = 4 };

static const struct param params[] = {
    {"radius", PARAM_INT, .min = 1, .max = RADIUS_MAX, .preset = 2, .step = 1, .help = "radius of the blur in pixels"},
    {"amount", PARAM_REAL, .min = -1, .max = 5, .preset = 1, .step = 0.25f,
     .help = "strength; 0 has no effect, values below 0 blur"},
    {"threshold", PARAM_INT, .max = 255, .step = 1, .help = "smaller differences from the blur stay"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    const int radius = (int)values->value[0];
    int32_t *value = arguments->value, binomial = 1;
    value[0] = (int32_t)floor(values->value[1] * 256 + 0.5);
    value[1] = 16 * (int32_t)values->value[2];
    for (int i = 0; i <= radius; i++) { // 2 radius choose i
        value[2 + radius - i] = binomial;
        binomial = binomial * (2 * radius - i) / (i + 1);
    }
    arguments->radius = radius;
    arguments->count = radius + 3;
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
