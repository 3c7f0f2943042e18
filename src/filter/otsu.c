// otsu.c: black and white by luma, at the level that separates dark and bright pixels best
#include "filter/histogram.h"

enum { MIDDLE = 128 };

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->count = 1;
    arguments->value[0] = MIDDLE; // until a picture has been measured
    return true;
}

extern const struct filter filter_otsu;
const struct filter filter_otsu = {
    .name = "otsu",
    .summary = "black and white: split at the level of Otsu's method",
    .example = "otsu",
    .kind = FILTER_POINT,
    .color = FILTER_MAKES_GREY,
    .prepare = prepare,
    .measured = &(const struct filter_measured){.measure = otsu_measure},
};
