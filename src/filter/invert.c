// invert.c: the photographic negative
#include "filter/filter.h"

extern const struct filter filter_invert;
const struct filter filter_invert = {
    .name = "invert",
    .summary = "invert the colours, as in a negative",
    .example = "invert",
    .kind = FILTER_POINT,
    .color = FILTER_KEEPS_GREY,
};
