// heat_map.h: an image of the best times by width and height of the work-group
#pragma once

#include "base/file.h"
#include "tune/space.h"

struct heat_map {
    const struct space *space;
    const double *ms; // time of each configuration; INFINITY: it failed; 0: untried
    int winner;       // configuration
    const char *title;
};

// Writes the image as PNG. Each cell has the best time of all configurations with its width and height. A space
// without these parameters gives a warning and no file. False on failure (logged).
bool heat_map_write(const struct heat_map *map, struct claim *claim);
