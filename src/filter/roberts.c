// roberts.c: edges
#include "filter/filter.h"

extern const struct filter filter_roberts;
const struct filter filter_roberts = {
    .name = "roberts",
    .summary = "show fine edges, with the Roberts cross",
    .example = "roberts",
    .kind = FILTER_STENCIL,
    .radius = 1,
};
