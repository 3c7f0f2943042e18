// exposure.c: more or less light
#include "filter/tables.h"

#include <math.h>

static const struct param params[] = {
    {"stops", PARAM_REAL, .min = -5, .max = 5, .preset = 1, .step = 0.25f, .help = "each stop doubles the light"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    const double factor = pow(2, values->value[0]);
    tables_multiply(arguments, (double[]){factor, factor, factor});
    return true;
}

extern const struct filter filter_exposure;
const struct filter filter_exposure = {
    .name = "exposure",
    .summary = "brighten or darken as a camera's exposure",
    .example = "exposure=0.7",
    .kind = FILTER_POINT,
    .color = FILTER_KEEPS_GREY,
    .table = true,
    .params = params,
    .prepare = prepare,
};
