// warp.c: computes the grid of a warp
#include "filter/warp.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum {
    SHIFT_MOST = 4,
    PLACE_MAX = (1 << 23) - 1, // the kernel's sums then fit in 31 bits
    NODES_MOST = 1 << 24,      // a texture of GL holds their places
    // In 1/256 pixel, halfway between nodes. There the error of 1 / (a x + b) is at least half the greatest one.
    ERROR_MOST = 16,
};

static int nodes(int pixels, int shift)
{
    return ((pixels - 1) >> shift) + 2;
}

static int64_t count_nodes(const struct filter_map *map, int shift)
{
    return (int64_t)nodes(map->width, shift) * nodes(map->height, shift);
}

int warp_count(const struct filter_map *map)
{
    return WARP_GRID_AT + 2 * (int)count_nodes(map, map->shift);
}

static int32_t rounded(double at)
{
    return (int32_t)floor(fmin(fmax(256 * at, -PLACE_MAX), PLACE_MAX) + 0.5);
}

// Computes the place of an output pixel, in 1/256 pixel.
static void find_place(const struct filter_map *map, int x, int y, int32_t place[2])
{
    const double *m = map->matrix;
    const double w = fmax(m[6] * x + m[7] * y + m[8], 1e-9); // a pixel that looks backwards gets a place far outside
    double point[] = {(m[0] * x + m[1] * y + m[2]) / w, (m[3] * x + m[4] * y + m[5]) / w};
    lens_distort(&map->lens, point);
    place[0] = rounded(point[0]);
    place[1] = rounded(point[1]);
}

static int limited(int place, int pixels)
{
    const int last = 256 * (pixels - 1);
    return place < 0 ? 0 : place > last ? last : place;
}

// Returns true if a place halfway between nodes is near the mean of their places. Both are first limited to the input.
static bool is_near(const int32_t place[2], const int32_t a[2], const int32_t b[2], const int32_t c[2],
                    const int32_t d[2], const int size[2])
{
    for (int i = 0; i < 2; i++) {
        const int32_t mean = (int32_t)(((int64_t)a[i] + b[i] + c[i] + d[i] + 2) >> 2);
        const int error = limited(mean, size[i]) - limited(place[i], size[i]);
        if (error < -ERROR_MOST || error > ERROR_MOST)
            return false;
    }
    return true;
}

// Returns true if the pixels in the middle of each cell and of each side of a cell are near their exact places.
static bool is_exact(const struct filter_map *map, const int size[2], int shift)
{
    const int side = 1 << shift, half = side / 2;
    for (int y = 0; y < map->height; y += side) {
        const bool lower = y + half < map->height;
        int32_t at[3][3][2]; // the places around a cell, by column and row
        for (int x = 0; x < map->width; x += side) {
            for (int i = x > 0; i < 3; i++) {
                for (int j = 0; j < 3; j++)
                    find_place(map, x + i * half, y + j * half, at[i][j]);
            }
            const bool right = x + half < map->width;
            if ((right && !is_near(at[1][0], at[0][0], at[0][0], at[2][0], at[2][0], size)) ||
                (lower && !is_near(at[0][1], at[0][0], at[0][0], at[0][2], at[0][2], size)) ||
                (right && lower && !is_near(at[1][1], at[0][0], at[2][0], at[0][2], at[2][2], size)))
                return false;
            memcpy(at[0], at[2], sizeof(at[0]));
        }
    }
    return true;
}

int warp_shift(const struct filter_map *map, int width, int height)
{
    int shift = SHIFT_MOST;
    while (shift > 0 && count_nodes(map, shift - 1) <= NODES_MOST && !is_exact(map, (int[]){width, height}, shift))
        shift--;
    return shift;
}

bool warp_is_whole(const struct filter_map *map)
{
    const double *m = map->matrix;
    bool whole = map->lens.model == LENS_NONE && m[6] == 0 && m[7] == 0 && m[8] == 1;
    for (int i = 0; i < 6; i++)
        whole = whole && fabs(m[i] - floor(m[i] + 0.5)) < 1e-9;
    // The grid clamps places far outside; a clamped place need not be whole.
    for (int corner = 0; whole && corner < 4; corner++) {
        const int x = corner % 2 * (nodes(map->width, map->shift) - 1) << map->shift;
        const int y = corner / 2 * (nodes(map->height, map->shift) - 1) << map->shift;
        int32_t place[2];
        find_place(map, x, y, place);
        whole = abs(place[0]) < PLACE_MAX && abs(place[1]) < PLACE_MAX;
    }
    return whole;
}

void warp_fill(const struct filter_map *map, int32_t *arguments)
{
    int32_t *to = arguments + WARP_GRID_AT;
    const int columns = nodes(map->width, map->shift), rows = nodes(map->height, map->shift);
    arguments[WARP_WIDTH_AT] = map->width;
    arguments[WARP_HEIGHT_AT] = map->height;
    arguments[WARP_COLUMNS_AT] = columns;
    arguments[WARP_SHIFT_AT] = map->shift;
    for (int j = 0; j < rows; j++) {
        for (int i = 0; i < columns; i++, to += 2)
            find_place(map, i << map->shift, j << map->shift, to);
    }
}
