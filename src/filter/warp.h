// warp.h: the arguments of kernels/warp.cl: a grid of places in the input (docs/pixels.md section 3)
#pragma once

#include "filter/filter.h"

// The output's width and height, the nodes in a row of the grid, its shift, then u and v of each node in 1/256 pixel.
enum { WARP_WIDTH_AT, WARP_HEIGHT_AT, WARP_COLUMNS_AT, WARP_SHIFT_AT, WARP_GRID_AT };

// Of taps: the output's width and height, the count of taps, 1 for columns, then for each pixel of an output row or
// column the first tap and the weights, with 14 fraction bits.
enum { TAPS_COUNT_AT = 2, TAPS_DOWN_AT, TAPS_AT };

// Sets the values of `scale` so that it makes pictures of the map's size by the map's taps.
void warp_scale_to(struct filter_values *values, const struct filter_map *map);

// Sets the size, the matrix and the taps of a zeroed map that scales.
void warp_scale_map(struct filter_map *map, int width, int height, int to_width, int to_height, enum filter_taps taps);

// Returns the first of `count` pixels of `all`, as near to `wanted` as possible; `wanted` below 0: in the middle.
int warp_first_pixel(int wanted, int count, int all);

// Returns the shift of the widest grid with which the place of each output pixel in an input of this size has an error
// of at most 1/8 pixel. The error may be larger if a finer grid would have more than 2^24 nodes.
int warp_shift(const struct filter_map *map, int width, int height);
// Returns true if each output pixel is a pixel of the input, or beyond it: each place is a whole number of pixels.
bool warp_is_whole(const struct filter_map *map);
int warp_count(const struct filter_map *map); // the count of arguments of a grid
void warp_fill(const struct filter_map *map, int32_t *arguments);
// The same for taps and an input of this size.
int taps_count(const struct filter_map *map, int width, int height);
void taps_fill(const struct filter_map *map, int width, int height, int32_t *arguments);

// Replaces a point on the plane at distance 1 before the camera by its place in the distorted picture, in pixels.
// LENS_NONE changes nothing.
void lens_distort(const struct lens *lens, double point[2]);
