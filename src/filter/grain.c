// grain.c: the grain of photographic film
#include "filter/filter.h"

enum { ARGUMENT_FRAME, ARGUMENT_STRENGTH, ARGUMENTS };

static const struct param params[] = {
    {"strength", PARAM_INT, .max = 100, .preset = 30, .step = 5, .help = "greatest change of a grey pixel"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->count = ARGUMENTS;
    arguments->value[ARGUMENT_STRENGTH] = (int32_t)values->value[0];
    return true;
}

static int follow(const struct stage *stage, const struct stage_size *size, const struct frame_time *frame_time,
                  int32_t *arguments)
{
    arguments[ARGUMENT_FRAME] = frame_time_argument(frame_time->number);
    return 1;
}

extern const struct filter filter_grain;
const struct filter filter_grain = {
    .name = "grain",
    .summary = "add the grain of photographic film, another one in each frame",
    .example = "grain=60",
    .kind = FILTER_POINT,
    .color = FILTER_KEEPS_GREY,
    .params = params,
    .placed = true,
    .prepare = prepare,
    .follow = follow,
};
