// warp.h: the arguments of kernels/warp.cl: a grid of places in the input (docs/pixels.md section 3)
#pragma once

#include "filter/filter.h"

// The output's width and height, the nodes in a row of the grid, then u and v of each node in 1/256 pixel.
enum { WARP_WIDTH_AT, WARP_HEIGHT_AT, WARP_COLUMNS_AT, WARP_GRID_AT };

int warp_count(const struct filter_map *map); // the count of arguments
void warp_fill(const struct filter_map *map, int32_t *arguments);
