// shrink.c: small pictures of frames, for the programs that make mattes
#include "matte/matte.h"

#include "base/alloc.h"
#include "base/number.h"
#include "image/convert.h"

#include <stdlib.h>
#include <string.h>

enum { ROWS_MAX = 4 };

// Returns where the part `index` of `count` parts of `size` pixels begins.
static int part_begin(int index, int count, int size)
{
    return (int)((int64_t)index * size / count);
}

static void add_row(const uint8_t *restrict row, uint16_t *restrict sums, int count)
{
    for (int i = 0; i < count; i++)
        sums[i] += row[i];
}

void matte_shrink(const struct image *from, int width, int height, uint8_t *rgb)
{
    const int columns = from->shape.width, rows = from->shape.height;
    const struct color_coefficients coefficients = color_to_rgb(from->shape.color);
    uint8_t *row = xmalloc((size_t)columns * 4 + 64);
    uint16_t *sums = xcalloc((size_t)columns * 4, sizeof(*sums));
    for (int y = 0; y < height; y++) {
        const int top = part_begin(y, height, rows), all = part_begin(y + 1, height, rows) - top;
        const int used = clamp_int(all, 1, ROWS_MAX);
        memset(sums, 0, (size_t)columns * 4 * sizeof(*sums));
        for (int i = 0; i < used; i++) {
            convert_row_to_rgba(from, &coefficients, 0, top + part_begin(i, used, all), columns, row, ROW_CACHED);
            add_row(row, sums, columns * 4);
        }
        for (int x = 0; x < width; x++, rgb += 3) {
            const int left = part_begin(x, width, columns), end = part_begin(x + 1, width, columns);
            const int last = end > left ? end : left + 1;
            uint32_t sum[3] = {0};
            for (int i = left; i < last; i++) {
                for (int c = 0; c < 3; c++)
                    sum[c] += sums[i * 4 + c];
            }
            const uint32_t count = (uint32_t)((last - left) * used);
            for (int c = 0; c < 3; c++)
                rgb[c] = (uint8_t)((sum[c] + count / 2) / count);
        }
    }
    free(sums);
    free(row);
}
