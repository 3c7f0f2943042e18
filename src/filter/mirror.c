// mirror.c: left and right exchanged
#include "filter/filter.h"

extern const struct filter filter_mirror;
const struct filter filter_mirror = {
    .name = "mirror",
    .summary = "mirror horizontally: the left column becomes the right column",
    .example = "mirror",
    .kind = FILTER_GEOMETRY,
    .mirror = true,
};
