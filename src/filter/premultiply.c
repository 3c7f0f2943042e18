// premultiply.c: filters that only the plan uses: multiply colours by alpha before a warp, and divide them after it
#include "filter/filter.h"

extern const struct filter filter_premultiply, filter_unpremultiply;
const struct filter filter_premultiply = {.name = "premultiply", .kind = FILTER_POINT, .color = FILTER_KEEPS_GREY};
const struct filter filter_unpremultiply = {.name = "unpremultiply", .kind = FILTER_POINT, .color = FILTER_KEEPS_GREY};
