// vibrance.c: stronger or weaker pale colours
#include "filter/filter.h"

#include <math.h>

static const struct param params[] = {
    {"amount", PARAM_REAL, .min = -1, .max = 2, .preset = 0.5f, .step = 0.1f,
     .help = "strength of the change; 0 has no effect. Strong colours change less"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->count = 1;
    arguments->value[0] = (int32_t)floor(values->value[0] * 256.0 + 0.5);
    return true;
}

extern const struct filter filter_vibrance;
const struct filter filter_vibrance = {
    .name = "vibrance",
    .summary = "make pale colours stronger or weaker",
    .example = "vibrance=1",
    .kind = FILTER_POINT,
    .color = FILTER_KEEPS_GREY,
    .params = params,
    .prepare = prepare,
};
