// flash_finder.h: finds the cells of a camera frame that show the flash, and measures their brightness. One thread at
// a time.
#pragma once

#include "image/image.h"

#include <stdbool.h>

enum { FINDER_COLUMNS = 32, FINDER_ROWS = 24, FINDER_CELLS = FINDER_COLUMNS * FINDER_ROWS };

// The mean luma, 0 to 255, of each cell of a grid over a frame.
struct finder_look {
    float cell[FINDER_CELLS];
};

struct finder_sums {
    double sum[FINDER_CELLS], squares[FINDER_CELLS];
    int count; // looks
};

// Learns from rounds. In each round the screen is dark, then light. Zeroed is empty.
struct finder {
    struct finder_sums seen[2];                    // of the current round: [0] dark, [1] light
    float step[FINDER_CELLS], noise[FINDER_CELLS]; // smallest step from dark to light and largest noise of any round
    float dark[FINDER_CELLS];                      // mean of all rounds
    float weight[FINDER_CELLS];                    // 0: the cell does not show the flash
    float weights;                                 // sum of weight * step
    int rounds, cells;                             // cells: the number with a weight
    float strongest;                               // largest step of any cell
};

// Measures a frame.
void finder_look(const struct image *picture, struct finder_look *look);

void finder_learn(struct finder *finder, bool light, const struct finder_look *look);
// Ends a round. A round without a dark or without a light look does not count.
void finder_end_round(struct finder *finder);
// Picks the cells that became lighter with the flash in every round. False if they are too few: the camera does not see
// the flash (not logged).
bool finder_ready(struct finder *finder);
// Returns about 0 if the picked cells are as dark as the learnt darkness, about 1 if they are as light as the learnt
// light.
double finder_level(const struct finder *finder, const struct finder_look *look);
