// maxrgb.c: keeps a pixel's largest channels
#include "filter/filter.h"

extern const struct filter filter_maxrgb;
const struct filter filter_maxrgb = {
    .name = "maxrgb",
    .summary = "keep each pixel's largest channel; set the others to 0",
    .example = "maxrgb",
    .kind = FILTER_POINT,
    .color = FILTER_KEEPS_GREY,
};
