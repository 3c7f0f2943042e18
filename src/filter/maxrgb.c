// maxrgb.c: keep a pixel's strongest channel
#include "filter/filter.h"
#include "filter/row_maps.h"
#include "filter/rows.h"

// Channels stay where they are in the word, which compilers vectorise; bytes they would not.
VECTOR_CLONES static void strongest(const pixel_word *from, pixel_word *to, int first, int width)
{
    VECTOR_LOOP
    for (int x = first; x < width; x++) {
        const uint32_t w = from[x], r = w & 255, g = w >> 8 & 255, b = w >> 16 & 255;
        const uint32_t larger = r > g ? r : g, largest = larger > b ? larger : b;
        to[x] = (w & 0xff000000u) | (r == largest ? w & 0xffu : 0) | (g == largest ? w & 0xff00u : 0) |
                (b == largest ? w & 0xff0000u : 0);
    }
}

// Each byte is held against the pixel's others, alpha against itself, in half the instructions.
ROW_MAP(strongest_vector, {
    const vector second = row_shuffle(pixels, 1, 2, 0, 3, 5, 6, 4, 7, 9, 10, 8, 11, 13, 14, 12, 15);
    const vector third = row_shuffle(second, 1, 2, 0, 3, 5, 6, 4, 7, 9, 10, 8, 11, 13, 14, 12, 15);
    return row_largest(pixels, row_max(second, third));
})

static void point_row(const struct filter_arguments *arguments, const uint8_t *from, uint8_t *to, int width, bool past)
{
    const int done = strongest_vector(NULL, from, to, width, past);
    strongest((const pixel_word *)from, (pixel_word *)to, done, width);
}

extern const struct filter filter_maxrgb;
const struct filter filter_maxrgb = {
    .name = "maxrgb",
    .summary = "keep each pixel's largest channel; set the others to 0",
    .example = "maxrgb",
    .kind = FILTER_POINT,
    .point_row = point_row,
};
