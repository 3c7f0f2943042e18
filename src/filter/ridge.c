// ridge.c: a bright bar between darker sides, such as a lane marking
#include "filter/filter.h"

static const struct param params[] = {
    {"width", PARAM_INT, .min = 1, .max = 21, .preset = 5, .step = 1, .help = "width of the bar in pixels"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    const int width = (int)values->value[0];
    arguments->radius = width + width / 2;
    return true;
}

extern const struct filter filter_ridge;
const struct filter filter_ridge = {
    .name = "ridge",
    .summary = "bright bars between darker sides, such as lane markings",
    .example = "gray,ridge=5",
    .kind = FILTER_STENCIL,
    .one_row = true,
    .params = params,
    .prepare = prepare,
};
