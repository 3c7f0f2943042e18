// dilate.c: maximum of a square or a disc
#include "filter/shape.h"

extern const struct filter filter_dilate;
const struct filter filter_dilate = {
    .name = "dilate",
    .summary = "let bright areas grow",
    .example = "dilate=2",
    .kind = FILTER_STENCIL,
    .params = shape_params,
    .separable = true,
    .prepare = shape_prepare,
};
