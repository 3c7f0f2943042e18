// median.c: the median of 3x3 pixels, which removes specks and keeps edges
#include "filter/filter.h"

extern const struct filter filter_median;
const struct filter filter_median = {
    .name = "median",
    .summary = "3x3 median: remove specks, keep edges",
    .example = "median",
    .kind = FILTER_STENCIL,
    .radius = 1,
};
