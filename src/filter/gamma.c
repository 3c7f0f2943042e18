// gamma.c: gamma correction
#include "filter/filter.h"

#include <math.h>

static const struct param params[] = {
    {"value", PARAM_REAL, .min = 0.1f, .max = 10, .preset = 2.2f, .step = 0.1f,
     .help = "gamma; values above 1 brighten, values below 1 darken"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->count = FILTER_LEVELS;
    for (int i = 0; i < FILTER_LEVELS; i++)
        arguments->value[i] = (int32_t)floor(255 * pow(i / 255.0, 1.0 / values->value[0]) + 0.5) * 0x010101;
    return true;
}

extern const struct filter filter_gamma;
const struct filter filter_gamma = {
    .name = "gamma",
    .summary = "gamma correction: brighten or darken the mid-tones",
    .example = "gamma=1.8",
    .kind = FILTER_POINT,
    .color = FILTER_KEEPS_GREY,
    .table = true,
    .params = params,
    .prepare = prepare,
};
