// rows.c: what the CPU row functions share
#include "filter/rows.h"

VECTOR_CLONES void row_copy_alpha(uint8_t *restrict rgba, const uint8_t *restrict centre, int width)
{
    uint32_t *restrict to = (uint32_t *)rgba;
    const uint32_t *restrict from = (const uint32_t *)centre;
    for (int x = 0; x < width; x++)
        to[x] = (to[x] & 0x00ffffffu) | (from[x] & 0xff000000u);
}
