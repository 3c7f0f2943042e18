// rows.c: what the CPU row functions share
#include "filter/rows.h"

const pixel_word row_alpha[ROW_CHUNK / 2] = {[0 ... ROW_CHUNK / 2 - 1] = 0xff000000u};

VECTOR_CLONES void row_copy_alpha(uint8_t *restrict rgba, const uint8_t *restrict centre, int width)
{
    pixel_word *restrict to = (pixel_word *)rgba;
    const pixel_word *restrict from = (const pixel_word *)centre;
    for (int x = 0; x < width; x++)
        to[x] = (to[x] & 0x00ffffffu) | (from[x] & 0xff000000u);
}
