// finder.h: finds where in a camera's picture a flash is seen, and tells how bright it is there
#pragma once

#include "image/image.h"

#include <stdbool.h>

enum { FINDER_COLUMNS = 32, FINDER_ROWS = 24, FINDER_CELLS = FINDER_COLUMNS * FINDER_ROWS };

// A picture as the mean luma, 0 to 255, of the cells of a grid.
struct finder_look {
    float cell[FINDER_CELLS];
};

struct finder_sums {
    double sum[FINDER_CELLS], squares[FINDER_CELLS];
    int count; // looks
};

// Learns from looks at darkness and at light in turn, round by round.
struct finder {
    struct finder_sums seen[2];                    // of this round: dark, light
    float step[FINDER_CELLS], noise[FINDER_CELLS]; // the smallest step of a round from dark to light; the largest noise
    float dark[FINDER_CELLS];                      // mean
    float weight[FINDER_CELLS];                    // of the cells that count; 0: others
    float weights;                                 // sum of weight * step
    int rounds, cells;                             // cells: how many count
    float strongest;                               // step of any cell
};

// False where memory runs out.
bool finder_look(const struct image *picture, struct finder_look *look);

void finder_learn(struct finder *finder, bool light, const struct finder_look *look);
// Ends a round in which there was darkness and light.
void finder_end_round(struct finder *finder);
// Picks the cells where light came and went with the flash in every round. False where they are too few: no flash is
// seen.
bool finder_ready(struct finder *finder);
// 0 where the cells look as in darkness, 1 where they look as in light.
double finder_level(const struct finder *finder, const struct finder_look *look);
