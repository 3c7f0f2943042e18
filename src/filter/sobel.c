// sobel.c: strength of edges
#include "filter/filter.h"

extern const struct filter filter_sobel;
const struct filter filter_sobel = {
    .name = "sobel",
    .summary = "edge detection: Sobel gradient magnitude",
    .example = "gray,sobel",
    .kind = FILTER_STENCIL,
    .radius = 1,
};
