// dilate.c: maximum of a square
#include "filter/filter.h"

static const struct param params[] = {
    {"radius", PARAM_INT, .min = 1, .max = FILTER_REACH_MAX, .preset = 1, .step = 1,
     .help = "pixels on each side; the square has 2 radius + 1"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->radius = (int)values->value[0];
    arguments->count = 1;
    return true;
}

extern const struct filter filter_dilate;
const struct filter filter_dilate = {
    .name = "dilate",
    .summary = "let bright areas grow",
    .example = "dilate=2",
    .kind = FILTER_STENCIL,
    .params = params,
    .separable = true,
    .prepare = prepare,
};
