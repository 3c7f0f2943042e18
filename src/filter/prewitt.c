// prewitt.c: edges
#include "filter/filter.h"

extern const struct filter filter_prewitt;
const struct filter filter_prewitt = {
    .name = "prewitt",
    .summary = "show edges, with the Prewitt operator",
    .example = "prewitt",
    .kind = FILTER_STENCIL,
    .radius = 1,
};
