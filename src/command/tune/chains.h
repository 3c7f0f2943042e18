// chains.h: tunes the passes of chains on a device
#pragma once

#include "base/options.h"
#include "tune/search.h"

struct tune_chains {
    const struct option_texts *filters;
    const char *sizes, *formats; // lists, separated by commas; NULL: 1920x1080, rgba
    const char *device, *kernels;
    const struct strategy *strategy;
    bool to_image; // the last pass writes a texture
    uint64_t seed;
    int budget;           // configurations for each pass; 0: no limit
    double seconds;       // time for each pass; 0: no limit
    double target_mpix_s; // ends the search of a pass at this speed; 0: no target
    bool json, explain;
    const char *t4; // file for the results of the last pass; NULL: none
};

// Tunes each chain in each format and size; prints and stores the results. Returns the exit code.
int tune_chains_run(const struct tune_chains *of);
