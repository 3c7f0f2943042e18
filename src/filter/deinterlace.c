// deinterlace.c: blends the two fields of an interlaced frame
#include "filter/filter.h"

extern const struct filter filter_deinterlace;
const struct filter filter_deinterlace = {
    .name = "deinterlace",
    .summary = "blend both fields of an interlaced frame: no combs, softer rows",
    .example = "deinterlace",
    .kind = FILTER_STENCIL,
    .radius = 1,
};
