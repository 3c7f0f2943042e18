// posterize.c: few levels for each channel
#include "filter/tables.h"

static const struct param params[] = {
    {"levels", PARAM_INT, .min = 2, .max = 64, .preset = 4, .step = 1, .help = "levels of each channel"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    const int levels = (int)values->value[0];
    double result[FILTER_LEVELS];
    for (int i = 0; i < FILTER_LEVELS; i++)
        result[i] = (i * levels / FILTER_LEVELS * 255 + (levels - 1) / 2) / (levels - 1);
    tables_fill(arguments, 0, result);
    return true;
}

extern const struct filter filter_posterize;
const struct filter filter_posterize = {
    .name = "posterize",
    .summary = "reduce each channel to a few levels",
    .example = "posterize=5",
    .kind = FILTER_POINT,
    .color = FILTER_KEEPS_GREY,
    .table = true,
    .params = params,
    .prepare = prepare,
};
