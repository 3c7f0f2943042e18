// replay.h: plays searches against a table of measured results
#pragma once

#include "base/options.h"

struct replay {
    const char *table;                 // path of a T4 results file
    const struct option_texts *search; // names of strategies, or "all"; none: all
    int budget, seeds;
    bool json, explain;
};

// Prints, for each strategy, how near the best configuration found comes to the best of the table. Returns the exit
// code.
int replay_run(const struct replay *replay);
