// fill.c: a picture of one colour
#include "filter/chain.h"

static const struct param params[] = {
    {"color", PARAM_COLOR, .max = COLOR_MAX, .step = COLOR_STEP, .help = "colour of all pixels, which become opaque"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    filter_split_color(values->value[0], arguments->value);
    arguments->count = 3;
    return true;
}

extern const struct filter filter_fill;
const struct filter filter_fill = {
    .name = "fill",
    .summary = "replace the picture by one colour",
    .example = "fill=teal",
    .kind = FILTER_POINT,
    .params = params,
    .prepare = prepare,
};
