// edges.c: filters that show edges
#include "filter/filter.h"

extern const struct filter filter_sobel, filter_prewitt, filter_scharr, filter_roberts, filter_laplacian;
const struct filter filter_sobel = {
    .name = "sobel",
    .summary = "edge detection: Sobel gradient magnitude",
    .example = "gray,sobel",
    .kind = FILTER_STENCIL,
    .radius = 1,
};
const struct filter filter_prewitt = {
    .name = "prewitt",
    .summary = "show edges, with the Prewitt operator",
    .example = "prewitt",
    .kind = FILTER_STENCIL,
    .radius = 1,
};
const struct filter filter_scharr = {
    .name = "scharr",
    .summary = "show edges, equally strong in all directions",
    .example = "scharr",
    .kind = FILTER_STENCIL,
    .radius = 1,
};
const struct filter filter_roberts = {
    .name = "roberts",
    .summary = "show fine edges, with the Roberts cross",
    .example = "roberts",
    .kind = FILTER_STENCIL,
    .radius = 1,
};
const struct filter filter_laplacian = {
    .name = "laplacian",
    .summary = "show lines and edges, with the Laplace operator",
    .example = "laplacian",
    .kind = FILTER_STENCIL,
    .radius = 1,
};
