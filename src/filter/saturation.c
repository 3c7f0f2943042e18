// saturation.c: stronger or weaker colours
#include "filter/filter.h"

#include <math.h>

static const struct param params[] = {
    {"amount", PARAM_REAL, .max = 4, .preset = 1.5f, .step = 0.1f,
     .help = "strength of the colours; 0 is grey, 1 has no effect"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->count = 1;
    arguments->value[0] = (int32_t)floor(values->value[0] * 256.0 + 0.5);
    return true;
}

extern const struct filter filter_saturation;
const struct filter filter_saturation = {
    .name = "saturation",
    .summary = "make colours stronger or weaker",
    .example = "saturation=1.8",
    .kind = FILTER_POINT,
    .color = FILTER_KEEPS_GREY,
    .params = params,
    .prepare = prepare,
};
