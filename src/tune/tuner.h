// tuner.h: searches for the fastest configuration of a pass, and compares it with the default
#pragma once

#include "tune/passes.h"
#include "tune/search.h"

enum { TUNER_RUNS = 3 };

struct tuner_trial {
    int configuration;
    double ms; // median of run_ms; INFINITY: it failed or was not measured
    double run_ms[TUNER_RUNS];
    double validate_ms, build_ms; // on the host's clock
    enum probe_status status;     // of the validation; PROBE_NOT_RUN: also if it cannot be measured
    char why[VERDICT_TEXT];       // reason of the failure
};

// The progress of the tuner. Its memory is valid until tuner_finish.
struct tuner_state {
    struct tuner_trial *trial; // in the order of the search
    int trials, failed;
    int best; // index of the fastest trial; -1: none
    double spent_s;
    bool comparing; // the search has ended
};

struct tuner_setup {
    struct tune_pass *pass;
    const struct strategy *strategy;
    uint64_t seed;    // of the search
    int budget;       // maximum number of configurations; 0: no limit
    double seconds;   // maximum time of the search; 0: no limit
    double target_ms; // the search ends when a configuration has this time or less; 0: no target
    // Called after each configuration and before the comparison, on the thread of tuner_run. Returns false to end the
    // search; the comparison follows. May be NULL.
    bool (*progress)(void *context, const struct tuner_state *state);
    void *context;
};

struct tuner_result {
    struct tuner_state state;
    int base, best;          // configurations: the default and the winner
    double base_ms, best_ms; // medians of the comparison
    double speedup;          // median over the rounds of the default's time / the winner's; 1: the default wins
    double noise;            // half the interquartile range of the default's times / their median
};

// Tries configurations: validates several at a time in child processes, then times one after the other. At the end,
// runs the five fastest and the default in turns. A configuration replaces the default only if it is faster by more
// than 2 % and by more than the noise. Returns false on failure, such as no default that runs (logged). The caller
// calls tuner_finish in any case.
bool tuner_run(const struct tuner_setup *setup, struct tuner_result *result);
void tuner_finish(struct tuner_result *result);
