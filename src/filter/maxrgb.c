// maxrgb.c: keep a pixel's strongest channel
#include "filter/filter.h"
#include "filter/rows.h"

// Channels stay where they are in the word, which compilers vectorise; bytes they would not.
VECTOR_CLONES static void point_row(const struct filter_arguments *arguments, const uint8_t *from, uint8_t *to,
                                    int width)
{
    const pixel_word *pixel = (const pixel_word *)from;
    pixel_word *result = (pixel_word *)to;
    VECTOR_LOOP
    for (int x = 0; x < width; x++) {
        const uint32_t w = pixel[x], r = w & 255, g = w >> 8 & 255, b = w >> 16 & 255;
        const uint32_t larger = r > g ? r : g, largest = larger > b ? larger : b;
        result[x] = (w & 0xff000000u) | (r == largest ? w & 0xffu : 0) | (g == largest ? w & 0xff00u : 0) |
                    (b == largest ? w & 0xff0000u : 0);
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
