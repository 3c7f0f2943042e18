// equalize.c: tones so that each is as frequent as the others, from the histogram
#include "filter/equalize_level.h"

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->count = FILTER_LEVELS;
    for (int i = 0; i < FILTER_LEVELS; i++)
        arguments->value[i] = i * 0x010101; // until a picture has been measured
    return true;
}

extern const struct filter filter_equalize;
const struct filter filter_equalize = {
    .name = "equalize",
    .summary = "equalize the histogram: use all tones equally",
    .example = "equalize",
    .kind = FILTER_POINT,
    .prepare = prepare,
    .measure = equalize_measure,
};
