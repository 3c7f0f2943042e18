// geometry.c: `none` and `keep`, and the filters that move pixels by whole rows and columns
#include "filter/filter.h"

extern const struct filter filter_none, filter_keep, filter_mirror, filter_flip;

const struct filter filter_none = {
    .name = "none",
    .summary = "pass the image through unchanged",
    .example = "none",
    .kind = FILTER_GEOMETRY,
};

const struct filter filter_keep = {
    .name = "keep",
    .summary = "begin a group of filters: the next masks, such as within, limit all of them",
    .example = "keep,blur=8,gray,within",
    .usage = "keep,blur=8,gray,within=matte.jpg",
    .kind = FILTER_GEOMETRY,
};

const struct filter filter_mirror = {
    .name = "mirror",
    .summary = "mirror horizontally: the left column becomes the right column",
    .example = "mirror",
    .kind = FILTER_GEOMETRY,
    .mirror = true,
};

const struct filter filter_flip = {
    .name = "flip",
    .summary = "flip vertically: the top row becomes the bottom row",
    .example = "flip",
    .kind = FILTER_GEOMETRY,
    .flip = true,
};
