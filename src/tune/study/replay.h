// replay.h: simulates searches on a table of measured results
#pragma once

#include "tune/search.h"

struct replay {
    const char *table;                        // path of a T4 results file
    const struct strategy *const *strategies; // ends with NULL
    int budget, seeds;
    bool json, explain;
};

// Runs each strategy with each seed on the table. Prints the optimum's time divided by the best time found. Returns the
// exit code.
int replay_run(const struct replay *replay);
