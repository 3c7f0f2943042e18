// scharr.c: edges
#include "filter/filter.h"

extern const struct filter filter_scharr;
const struct filter filter_scharr = {
    .name = "scharr",
    .summary = "show edges, equally strong in all directions",
    .example = "scharr",
    .kind = FILTER_STENCIL,
    .radius = 1,
};
