// sepia.c: the brown of old photographs
#include "filter/filter.h"
#include "filter/row_maps.h"
#include "filter/rows.h"

// The usual sepia matrix (0.393 0.769 0.189 / 0.349 0.686 0.168 / 0.272 0.534 0.131) in 7 bits of fraction.
VECTOR_CLONES static void brown(const pixel_word *from, pixel_word *to, int first, int width)
{
    VECTOR_LOOP
    for (int x = first; x < width; x++) {
        const uint32_t w = from[x];
        const int r = w & 255, g = w >> 8 & 255, b = w >> 16 & 255;
        const uint32_t red = (uint32_t)sat8((50 * r + 98 * g + 24 * b + 64) >> 7);
        const uint32_t green = (uint32_t)sat8((45 * r + 88 * g + 22 * b + 64) >> 7);
        const uint32_t blue = (uint32_t)sat8((35 * r + 68 * g + 17 * b + 64) >> 7);
        to[x] = (w & 0xff000000u) | blue << 16 | green << 8 | red;
    }
}

ROW_MAP(brown_vector, {
    const vector red = (vector)((words)row_weigh(pixels, 50, 98, 24, 64) >> 7);
    const vector green = (vector)((words)row_weigh(pixels, 45, 88, 22, 64) >> 7);
    const vector blue = (vector)((words)row_weigh(pixels, 35, 68, 17, 64) >> 7);
    const vector alpha = (vector)((words)pixels >> 24);
    const vector parted = row_pack_16(row_pack_32(red, blue), row_pack_32(green, alpha));
    return row_shuffle(parted, 0, 8, 4, 12, 1, 9, 5, 13, 2, 10, 6, 14, 3, 11, 7, 15);
})

static void point_row(const struct filter_arguments *arguments, const uint8_t *from, uint8_t *to, int width, bool past)
{
    const int done = brown_vector(NULL, from, to, width, past);
    brown((const pixel_word *)from, (pixel_word *)to, done, width);
}

extern const struct filter filter_sepia;
const struct filter filter_sepia = {
    .name = "sepia",
    .summary = "sepia tone of old photographs",
    .example = "sepia",
    .kind = FILTER_POINT,
    .color = FILTER_COLORS,
    .point_row = point_row,
};
