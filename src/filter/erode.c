// erode.c: minimum of a square or a disc
#include "filter/shape.h"

extern const struct filter filter_erode;
const struct filter filter_erode = {
    .name = "erode",
    .summary = "let dark areas grow",
    .example = "erode=2",
    .kind = FILTER_STENCIL,
    .params = shape_params,
    .separable = true,
    .prepare = shape_prepare,
};
