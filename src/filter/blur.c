// blur.c: the mean of a square
#include "filter/filter.h"

static const struct param params[] = {
    {"radius", PARAM_INT, .min = 1, .max = FILTER_RADIUS_MAX, .preset = 2, .step = 1,
     .help = "radius in pixels; 2 averages 5x5 pixels"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->radius = (int)values->value[0];
    return true;
}

extern const struct filter filter_blur;
const struct filter filter_blur = {
    .name = "blur",
    .summary = "box blur: mean of the square around each pixel",
    .example = "blur=3",
    .kind = FILTER_STENCIL,
    .params = params,
    .alpha = ALPHA_WEIGHS,
    .prepare = prepare,
};
