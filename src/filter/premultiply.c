// premultiply.c: filters that only the plan uses: multiply colours by alpha before a warp or stencil, and divide them
// after it; keep a picture for masks
#include "filter/filter.h"

extern const struct filter filter_premultiply, filter_unpremultiply, filter_kept;
const struct filter filter_premultiply = {
    .name = "premultiply", .kind = FILTER_POINT, .color = FILTER_KEEPS_GREY, .alpha = true};
const struct filter filter_unpremultiply = {.name = "unpremultiply", .kind = FILTER_POINT, .color = FILTER_KEEPS_GREY};
const struct filter filter_kept = {
    .name = "keep", .kind = FILTER_POINT, .color = FILTER_KEEPS_GREY, .second = SECOND_PREVIOUS};
