// sobel.c: strength of edges
#include "filter/filter.h"

#include <math.h>

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->radius = 1;
    return true;
}

extern const struct filter filter_sobel;
const struct filter filter_sobel = {
    .name = "sobel",
    .summary = "edge detection: Sobel gradient magnitude",
    .example = "gray,sobel",
    .kind = FILTER_STENCIL,
    .prepare = prepare,
};
