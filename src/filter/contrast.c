// contrast.c: contrast around middle grey, and brightness
#include "filter/filter.h"

#include <math.h>

static const struct param params[] = {
    {"amount", PARAM_REAL, .max = 10, .preset = 1.5f, .step = 0.1f,
     .help = "factor around middle grey; 1 has no effect"},
    {"brightness", PARAM_REAL, .min = -255, .max = 255, .step = 4, .help = "value added to each channel"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    const double amount = values->value[0], brightness = values->value[1];
    arguments->count = FILTER_LEVELS;
    for (int i = 0; i < FILTER_LEVELS; i++)
        arguments->value[i] =
            (int32_t)fmin(fmax(floor((i - 127.5) * amount + 127.5 + brightness + 0.5), 0), FILTER_LEVELS - 1) *
            0x010101;
    return true;
}

extern const struct filter filter_contrast;
const struct filter filter_contrast = {
    .name = "contrast",
    .summary = "adjust contrast and brightness",
    .example = "contrast=1.3:brightness=10",
    .kind = FILTER_POINT,
    .color = FILTER_KEEPS_GREY,
    .table = true,
    .params = params,
    .prepare = prepare,
};
