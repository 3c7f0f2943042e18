// chains.h: tunes the passes of chains on a device, the cpu path for chains, or a user's kernel
#pragma once

#include "base/options.h"
#include "tune/search.h"

enum { TUNE_AUTO_BUDGET = 80 }; // configurations that the search `auto` tries for each pass if there is no limit

struct tune_chains {
    const char *from; // directory of captures (tune/captures.h), which replace the next three members; NULL: none
    const struct option_texts *filters;
    const char *sizes, *formats; // lists, separated by commas; NULL: 1920x1080, rgba
    const char *device, *kernels;
    const struct strategy *strategy;
    bool to_image; // the last pass writes a texture; not with `from`
    bool on_cpu;   // the cpu path is tuned, not a device; not with `from`
    int threads;   // of the cpu path; 0: one per CPU
    uint64_t seed;
    int budget;           // configurations for each pass; 0: no limit
    double seconds;       // time for each pass; 0: no limit
    double target_mpix_s; // ends the search of a pass at this speed; 0: no target
    bool by_energy;       // choose the least energy, not the least time
    bool resume;          // continue with the logged results of an earlier run
    bool json, explain;
    const char *t4;       // file for the results of the last pass; NULL: none
    const char *csv;      // file for the results of all passes; NULL: none
    const char *heat_map; // PNG file for the times of the last pass; NULL: none
    const char *spec;     // description of a user's kernel, tuned instead of chains; NULL: none
};

// Tunes each chain in each format and size, or each capture; prints and stores the results. Returns the exit code.
int tune_chains_run(const struct tune_chains *of);
