// premultiply.c: filters that only the plan uses: let alpha or a matte weigh the colours that a warp or stencil mixes;
// keep a picture for masks
#include "filter/filter.h"

extern const struct filter filter_premultiply, filter_unpremultiply, filter_kept;
const struct filter filter_premultiply = {
    .name = "premultiply", .kind = FILTER_POINT, .color = FILTER_KEEPS_GREY, .alpha = ALPHA_CHANGES};
const struct filter filter_unpremultiply = {.name = "unpremultiply", .kind = FILTER_POINT, .color = FILTER_KEEPS_GREY};
const struct filter filter_kept = {
    .name = "keep", .kind = FILTER_POINT, .color = FILTER_KEEPS_GREY, .second = SECOND_PREVIOUS};

// The kept picture of the last three has, as alpha, 255 minus the numbers of a matte. `reveal` is the matte.
extern const struct filter filter_veil, filter_weigh, filter_unweigh, filter_reveal;
const struct filter filter_veil = {
    .name = "veil", .kind = FILTER_POINT, .color = FILTER_KEEPS_GREY, .alpha = ALPHA_CHANGES};
const struct filter filter_weigh = {
    .name = "weigh", .kind = FILTER_POINT, .color = FILTER_KEEPS_GREY, .second = SECOND_KEPT, .alpha = ALPHA_CHANGES};
const struct filter filter_unweigh = {.name = "unweigh", .kind = FILTER_POINT, .second = SECOND_KEPT};
const struct filter filter_reveal = {.name = "reveal", .kind = FILTER_POINT, .second = SECOND_KEPT};
