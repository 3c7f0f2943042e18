// pattern_draw.h: the test pattern as a function of place and frame number
#pragma once

#include <stdint.h>

struct pattern_layout {
    int width, height;
    int bars, ramp, hues, stripes; // the first row below each band; what is left holds the number
    int radius, range_x, range_y;  // of the moving disc, and how far it moves
    int scale, digits_x, digits_y; // size of a digit's dot, 0 for no room; where the number begins
};

struct pattern_layout pattern_layout(int width, int height);

// Pixels x0..x1-1 of row y of frame `number`, as RGBA.
void pattern_row(const struct pattern_layout *layout, uint64_t number, int y, int x0, int x1, uint8_t *rgba);

struct pattern_rect {
    int x0, y0, x1, y1; // x0 and y0 are even, and so are x1 and y1 but at the picture's edge
};
enum { PATTERN_DIGITS = 6, PATTERN_CHANGES = PATTERN_DIGITS + 2 };

// The rectangles outside of which two frames are equal; returns how many.
int pattern_changes(const struct pattern_layout *layout, uint64_t from, uint64_t to,
                    struct pattern_rect rects[PATTERN_CHANGES]);
