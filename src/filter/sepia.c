// sepia.c: the brown of old photographs
#include "filter/filter.h"
#include "filter/rows.h"

// The usual sepia matrix (0.393 0.769 0.189 / 0.349 0.686 0.168 / 0.272 0.534 0.131) in 7 bits of fraction.
VECTOR_CLONES static void point_row(const struct filter_arguments *arguments, uint8_t *rgba, int width)
{
    for (int x = 0; x < width; x++) {
        uint8_t *p = rgba + 4 * x;
        const int r = p[0], g = p[1], b = p[2];
        p[0] = (uint8_t)row_sat8((50 * r + 98 * g + 24 * b + 64) >> 7);
        p[1] = (uint8_t)row_sat8((45 * r + 88 * g + 22 * b + 64) >> 7);
        p[2] = (uint8_t)row_sat8((35 * r + 68 * g + 17 * b + 64) >> 7);
    }
}

extern const struct filter filter_sepia;
const struct filter filter_sepia = {
    .name = "sepia",
    .summary = "the brown of old photographs",
    .example = "sepia",
    .kind = FILTER_POINT,
    .color = FILTER_COLORS,
    .kernel = "sepia.cl",
    .point_row = point_row,
};
