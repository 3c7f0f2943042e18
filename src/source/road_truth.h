// road_truth.h: where the lane lines of a road: source are
#pragma once

#include "source/road.h"

enum { ROAD_TRUTH_ROWS = 56, ROAD_TRUTH_LINES = 4 };
#define ROAD_TRUTH_RANGE 60.0 // metres: farther parts of a line do not count

// The lines of the own lane, and the next line on each side, from left to right. Parts that are hidden or worn away
// count, too. There are no lines at level empty.
struct road_truth {
    int y[ROAD_TRUTH_ROWS]; // (16 + i) / 72 of the height: 160, 170, ..., 710 for 720 rows
    int lines;
    double x[ROAD_TRUTH_LINES][ROAD_TRUTH_ROWS]; // in pixels; -2: the line is not in this row of the picture
};

void road_truth(const struct road_spec *spec, uint64_t frame, struct road_truth *truth);
