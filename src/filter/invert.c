// invert.c: the photographic negative
#include "filter/filter.h"
#include "filter/rows.h"

VECTOR_CLONES static void point_row(const struct filter_arguments *arguments, const uint8_t *from, uint8_t *to,
                                    int width)
{
    const pixel_word *pixel = (const pixel_word *)from;
    pixel_word *result = (pixel_word *)to;
    VECTOR_LOOP
    for (int x = 0; x < width; x++)
        result[x] = pixel[x] ^ 0x00ffffffu;
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
