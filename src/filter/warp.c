// warp.c: computes the grid of a warp
#include "filter/warp.h"

#include <math.h>

enum { CELL = 16, PLACE_MAX = (1 << 23) - 1 }; // pixels between nodes; the kernel's sums then fit in 31 bits

static int nodes(int pixels)
{
    return (pixels - 1) / CELL + 2;
}

int warp_count(const struct filter_map *map)
{
    return WARP_GRID_AT + 2 * nodes(map->width) * nodes(map->height);
}

static int32_t place(double at)
{
    return (int32_t)floor(fmin(fmax(256 * at, -PLACE_MAX), PLACE_MAX) + 0.5);
}

void warp_fill(const struct filter_map *map, int32_t *arguments)
{
    const double *m = map->matrix;
    int32_t *to = arguments + WARP_GRID_AT;
    arguments[WARP_WIDTH_AT] = map->width;
    arguments[WARP_HEIGHT_AT] = map->height;
    arguments[WARP_COLUMNS_AT] = nodes(map->width);
    for (int j = 0; j < nodes(map->height); j++) {
        for (int i = 0; i < nodes(map->width); i++) {
            const double x = CELL * i, y = CELL * j;
            const double w = fmax(m[6] * x + m[7] * y + m[8], 1e-9); // behind the camera: far outside the input
            double point[] = {(m[0] * x + m[1] * y + m[2]) / w, (m[3] * x + m[4] * y + m[5]) / w};
            lens_distort(&map->lens, point);
            *to++ = place(point[0]);
            *to++ = place(point[1]);
        }
    }
}
