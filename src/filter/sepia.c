// sepia.c: the brown of old photographs
#include "filter/filter.h"

extern const struct filter filter_sepia;
const struct filter filter_sepia = {
    .name = "sepia",
    .summary = "sepia tone of old photographs",
    .example = "sepia",
    .kind = FILTER_POINT,
};
