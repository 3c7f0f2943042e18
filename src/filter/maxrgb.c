// maxrgb.c: keep a pixel's strongest channel
#include "filter/filter.h"
#include "filter/rows.h"

VECTOR_CLONES static void point_row(const struct filter_arguments *arguments, uint8_t *rgba, int width)
{
    for (int x = 0; x < width; x++) {
        uint8_t *p = rgba + 4 * x;
        const uint8_t larger = p[0] > p[1] ? p[0] : p[1];
        const uint8_t largest = larger > p[2] ? larger : p[2];
        p[0] = p[0] == largest ? p[0] : 0;
        p[1] = p[1] == largest ? p[1] : 0;
        p[2] = p[2] == largest ? p[2] : 0;
    }
}

extern const struct filter filter_maxrgb;
const struct filter filter_maxrgb = {
    .name = "maxrgb",
    .summary = "keep each pixel's largest channels, set the others to 0",
    .example = "maxrgb",
    .kind = FILTER_POINT,
    .kernel = "maxrgb.cl",
    .point_row = point_row,
};
