// threshold.c: black and white by luma
#include "filter/filter.h"

static const struct param params[] = {
    {"level", PARAM_INT, .max = 255, .preset = 128, .step = 4, .help = "lowest luma of a white pixel"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->count = 1;
    arguments->value[0] = (int32_t)values->value[0];
    return true;
}

extern const struct filter filter_threshold;
const struct filter filter_threshold = {
    .name = "threshold",
    .summary = "black and white: split at a luma level",
    .example = "threshold=100",
    .kind = FILTER_POINT,
    .color = FILTER_MAKES_GREY,
    .params = params,
    .prepare = prepare,
};
