// motion.c: difference from frame to frame
#include "filter/filter.h"

static const struct param params[] = {
    {"gain", PARAM_INT, .min = 1, .max = 32, .preset = 4, .step = 1, .help = "factor of the differences"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->value[1] = (int32_t)values->value[0];
    arguments->count = 2;
    return true;
}

extern const struct filter filter_motion;
const struct filter filter_motion = {
    .name = "motion",
    .summary = "show motion: the difference from the previous frame; the first frame, and an image file, give black",
    .example = "motion",
    .kind = FILTER_POINT,
    .color = FILTER_KEEPS_GREY,
    .second = SECOND_INPUT,
    .params = params,
    .prepare = prepare,
    .follow = filter_follow_previous,
};
