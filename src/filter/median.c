// median.c: the median of 3x3 pixels, which removes specks and keeps edges
#include "filter/filter.h"

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->radius = 1;
    return true;
}

extern const struct filter filter_median;
const struct filter filter_median = {
    .name = "median",
    .summary = "3x3 median: remove specks, keep edges",
    .example = "median",
    .kind = FILTER_STENCIL,
    .prepare = prepare,
};
