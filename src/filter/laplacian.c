// laplacian.c: edges
#include "filter/filter.h"

extern const struct filter filter_laplacian;
const struct filter filter_laplacian = {
    .name = "laplacian",
    .summary = "show lines and edges, with the Laplace operator",
    .example = "laplacian",
    .kind = FILTER_STENCIL,
    .radius = 1,
};
