// counted.h: the pixels that a filter counts before it runs (filter.measure): one histogram for each part of its input
#pragma once

#include <stdbool.h>

enum { COUNTED_TILES = 16, COUNTED_CHANNELS = 3 }; // maximum number of tiles in a row or column; parts with `colors`

struct counted {
    bool colors;       // the parts are red, green and blue of the whole input; else the luma of its tiles, row by row
    int parts;         // the number of histograms
    int tiles;         // in each row and column
    int width, height; // of a tile; counted_mirrored gives its pixels beyond the input
};

// `tiles`: in each row and column; 0: the input is one part.
struct counted counted_of(bool colors, int tiles, int width, int height);
// Returns the pixel of a row or column of `count` pixels that stands for the one at `at`, which may lie beyond its end.
int counted_mirrored(int at, int count);
