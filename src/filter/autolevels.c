// autolevels.c: black and white points from the histogram
#include "filter/histogram.h"
#include "filter/tables.h"

#include <math.h>

static const struct param params[] = {
    {"cut", PARAM_REAL, .max = 20, .preset = 0.5f, .step = 0.25f,
     .help = "share of the darkest pixels that become black, and of the brightest that become white, at most, in %"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    tables_start(arguments);
    arguments->value[arguments->count++] = (int32_t)floor(values->value[0] * 100 + 0.5);
    return true;
}

extern const struct filter filter_autolevels;
const struct filter filter_autolevels = {
    .name = "autolevels",
    .summary = "set the black point and the white point by the histogram",
    .example = "autolevels=1",
    .kind = FILTER_POINT,
    .color = FILTER_KEEPS_GREY,
    .table = true,
    .params = params,
    .prepare = prepare,
    .measured = &(const struct filter_measured){.measure = autolevels_measure},
};
