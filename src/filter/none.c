// none.c: the filter that changes nothing
#include "filter/filter.h"

extern const struct filter filter_none;
const struct filter filter_none = {
    .name = "none",
    .summary = "pass the image through unchanged",
    .example = "none",
    .kind = FILTER_GEOMETRY, // moves no pixel
};
