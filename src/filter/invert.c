// invert.c: the photographic negative
#include "filter/filter.h"
#include "filter/rows.h"

VECTOR_CLONES static void point_row(const struct filter_arguments *arguments, uint8_t *rgba, int width)
{
    for (int x = 0; x < width; x++) {
        uint8_t *p = rgba + 4 * x;
        p[0] = (uint8_t)(255 - p[0]);
        p[1] = (uint8_t)(255 - p[1]);
        p[2] = (uint8_t)(255 - p[2]);
    }
}

extern const struct filter filter_invert;
const struct filter filter_invert = {
    .name = "invert",
    .summary = "photographic negative",
    .example = "invert",
    .kind = FILTER_POINT,
    .kernel = "invert.cl",
    .point_row = point_row,
};
