// rows_warp.c: rows of a warp; compiled once per instruction set
#include "filter/rows.h"

#include "base/vector.h"
#include "filter/filter_kernels.h"

#include <string.h>

static pixel pixel_at(const struct warp_source *from, int x, int y)
{
    uint32_t word;
    memcpy(&word,
           from->pixels + (size_t)clamp(y, 0, from->height - 1) * from->stride +
               4 * (size_t)clamp(x, 0, from->width - 1),
           4);
    return (pixel){word & 255, word >> 8 & 255, word >> 16 & 255, (int)(word >> 24)};
}

extern warp_row VECTORS_NAME(row_warp);
void VECTORS_NAME(row_warp)(const int32_t *numbers, const struct warp_source *from, int y, uint8_t *to)
{
    const int width = WARP_WIDTH(numbers);
    for (int x = 0; x < width; x++) {
        const int u = warp_place(numbers, x, y, 0), v = warp_place(numbers, x, y, 1);
        const int left = u >> 8, top = v >> 8;
        const pixel p = warp_pixel(pixel_at(from, left, top), pixel_at(from, left + 1, top),
                                   pixel_at(from, left, top + 1), pixel_at(from, left + 1, top + 1), u, v);
        ((pixel_word *)to)[x] = (uint32_t)(p.r | p.g << 8 | p.b << 16) | (uint32_t)p.a << 24;
    }
}
