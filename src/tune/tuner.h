// tuner.h: searches for the fastest configuration of a subject, and compares it with the default
#pragma once

#include "tune/search.h"
#include "tune/subject.h"

enum { TUNER_RUNS = 3 };
#define TUNER_GAIN_MIN .02 // smallest gain for which a configuration replaces the default or the current one

struct energy;
struct journal;

struct tuner_trial {
    int configuration;
    double ms; // median of run_ms; INFINITY: it failed or was not measured
    double run_ms[TUNER_RUNS];
    double validate_ms, build_ms; // on the host's clock
    enum probe_status status;     // of the validation; PROBE_NOT_RUN: also if it cannot be measured
    char why[VERDICT_TEXT];       // reason of the failure
};

double tuner_median(const double run_ms[TUNER_RUNS]);

// The progress of the tuner. Its memory is valid until tuner_finish.
struct tuner_state {
    struct tuner_trial *trial;   // in the order of the search
    int trials, failed, resumed; // resumed: trials of an earlier run
    int best;                    // index of the fastest trial; -1: none
    double spent_s;
    bool comparing; // the search has ended
};

struct tuner_setup {
    struct subject *subject;
    const struct strategy *strategy;
    uint64_t seed;    // of the search
    int budget;       // maximum number of configurations; 0: no limit
    double seconds;   // maximum time of the search; 0: no limit
    double target_ms; // the search ends when a configuration has this time or less; 0: no target
    // Log of the results (journal.h). Its results become the first trials and are not measured again. Their search
    // time counts towards `seconds`. NULL: none.
    struct journal *journal;
    struct energy *energy; // counter of the device (base/energy.h); NULL: none
    bool by_energy; // the comparison has 12 configurations instead of 6, and chooses the least energy; needs `energy`
    // Called after each configuration and before the comparison, on the thread of tuner_run. Returns false to end the
    // search; the comparison follows. May be NULL.
    bool (*progress)(void *context, const struct tuner_state *state);
    void *context;
};

struct tuner_result {
    struct tuner_state state;
    int base, used, best;             // numbers of the default, of the configuration in use and of the winner
    double base_ms, used_ms, best_ms; // medians of the comparison
    double speedup; // median over the rounds of the time of the one in use / the winner's; 1: the one in use wins
    double noise;   // half the interquartile range of the times of the one in use / their median
    double gap_ms;  // pause between two runs of the winner in a queue; 0: unknown
    double base_mj, best_mj; // millijoules of a run; 0: not measured
};

// Tries configurations: validates several at a time in child processes, then times one after the other. At the end,
// runs the fastest, the default and the one in use (subject->used, else the default) in turns. A configuration replaces
// the one in use only if it is faster by more than 2 % and by more than the noise. Returns false on failure, such as no
// default that runs (logged), or if a signal arrives before one has run. A signal ends the validations; the comparison
// follows. The caller calls tuner_finish in any case.
bool tuner_run(const struct tuner_setup *setup, struct tuner_result *result);
void tuner_finish(struct tuner_result *result);
