// invert.c: the photographic negative
#include "filter/filter.h"
#include "filter/row_maps.h"
#include "filter/rows.h"

VECTOR_CLONES static void negative(const pixel_word *from, pixel_word *to, int first, int width)
{
    VECTOR_LOOP
    for (int x = first; x < width; x++)
        to[x] = from[x] ^ 0x00ffffffu;
}

ROW_MAP(negative_vector, { return (vector)((words)pixels ^ 0x00ffffff); })

static void point_row(const struct filter_arguments *arguments, const uint8_t *from, uint8_t *to, int width, bool past)
{
    const int done = negative_vector(NULL, from, to, width, past);
    negative((const pixel_word *)from, (pixel_word *)to, done, width);
}

extern const struct filter filter_invert;
const struct filter filter_invert = {
    .name = "invert",
    .summary = "invert the colours, as in a negative",
    .example = "invert",
    .kind = FILTER_POINT,
    .point_row = point_row,
};
