// histogram.c: histograms of pictures in the host's memory
#include "path/histogram.h"

#include "filter/rows.h"

#include <string.h>

// Neighbouring pixels are often equal. With a single counter, each addition would wait for the one before.
enum { COPIES = 4 };

void histogram_add(const struct image *rgba, int first, int end, bool grey, uint8_t *row,
                   uint32_t counts[FILTER_LEVELS])
{
    const int width = rgba->shape.width;
    const struct filter_arguments arguments = {0}; // the mode luma
    const struct row_variant *luma = row_variant_choose(filter_find("gray"), &arguments, width, 4, NULL);
    uint32_t copies[COPIES][FILTER_LEVELS] = {0};
    for (int y = first; y < end; y++) {
        const uint8_t *at = image_row(rgba, 0, y);
        if (!grey) {
            luma->point(&arguments, at, row, width, false);
            at = row;
        }
        int x = 0;
        for (; x + COPIES <= width; x += COPIES) {
            uint64_t pairs[COPIES / 2]; // of pixels: fewer loads are faster
            memcpy(pairs, at + 4 * (size_t)x, sizeof(pairs));
            for (int i = 0; i < COPIES / 2; i++) {
                copies[2 * i][pairs[i] & 255]++;
                copies[2 * i + 1][pairs[i] >> 32 & 255]++;
            }
        }
        for (; x < width; x++)
            copies[0][at[4 * (size_t)x]]++;
    }
    for (int i = 0; i < FILTER_LEVELS; i++)
        counts[i] += copies[0][i] + copies[1][i] + copies[2][i] + copies[3][i];
}
