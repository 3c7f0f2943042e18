// median.c: the median of a square, which removes specks and keeps edges
#include "filter/filter.h"

static const struct param params[] = {
    {"radius", PARAM_INT, .min = 1, .max = 5, .preset = 1, .step = 1, .help = "pixels on each side of the middle"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->radius = (int)values->value[0];
    arguments->loops = arguments->radius > 1;
    return true;
}

extern const struct filter filter_median;
const struct filter filter_median = {
    .name = "median",
    .summary = "median of a square: remove specks, keep edges",
    .example = "median=2",
    .kind = FILTER_STENCIL,
    .params = params,
    .prepare = prepare,
};
