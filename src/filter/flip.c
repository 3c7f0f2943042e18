// flip.c: top and bottom exchanged
#include "filter/filter.h"

extern const struct filter filter_flip;
const struct filter filter_flip = {
    .name = "flip",
    .summary = "flip vertically: the top row becomes the bottom row",
    .example = "flip",
    .kind = FILTER_GEOMETRY,
    .flip = true,
};
