// sepia.c: the brown of old photographs
#include "filter/filter.h"
#include "filter/rows.h"

// The usual sepia matrix (0.393 0.769 0.189 / 0.349 0.686 0.168 / 0.272 0.534 0.131) in 7 bits of fraction.
VECTOR_CLONES static void point_row(const struct filter_arguments *arguments, const uint8_t *from, uint8_t *to,
                                    int width)
{
    const pixel_word *pixel = (const pixel_word *)from;
    pixel_word *result = (pixel_word *)to;
    VECTOR_LOOP
    for (int x = 0; x < width; x++) {
        const uint32_t w = pixel[x];
        const int r = w & 255, g = w >> 8 & 255, b = w >> 16 & 255;
        const uint32_t red = (uint32_t)row_sat8((50 * r + 98 * g + 24 * b + 64) >> 7);
        const uint32_t green = (uint32_t)row_sat8((45 * r + 88 * g + 22 * b + 64) >> 7);
        const uint32_t blue = (uint32_t)row_sat8((35 * r + 68 * g + 17 * b + 64) >> 7);
        result[x] = (w & 0xff000000u) | blue << 16 | green << 8 | red;
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
