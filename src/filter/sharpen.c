// sharpen.c: increases the differences from the four neighbours
#include "filter/filter.h"

#include <math.h>

static const struct param params[] = {
    {"amount", PARAM_REAL, .max = 8, .preset = 1, .step = 0.25f, .help = "strength; 0 has no effect"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->count = 1;
    arguments->value[0] = (int32_t)floor(values->value[0] * 256.0 + 0.5);
    return true;
}

extern const struct filter filter_sharpen;
const struct filter filter_sharpen = {
    .name = "sharpen",
    .summary = "sharpen edges",
    .example = "sharpen=1.5",
    .kind = FILTER_STENCIL,
    .params = params,
    .radius = 1,
    .prepare = prepare,
};
