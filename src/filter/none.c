// none.c: the filter that changes nothing
#include "filter/filter.h"

extern const struct filter filter_none;
const struct filter filter_none = {
    .name = "none",
    .summary = "leave the picture as it is",
    .example = "none",
    .kind = FILTER_GEOMETRY, // moves no pixel
};
