// trial.h: things measured in turns, every one once in a round, so that what disturbs disturbs all alike
#pragma once

#include "base/samples.h"

#include <stdint.h>

struct trial_time {
    double ms;      // what is reported: by the device's clock where there is one
    double wall_ms; // by the host's
};

struct trial {
    // Makes `runs` runs and gives the average of one. False: it failed (logged), and is left out from then on.
    bool (*run)(void *context, int runs, struct trial_time *time);
    void (*keep)(void *context); // notes more of the measurement just made; NULL: there is no more
    void *context;
    int warm_runs; // before the first measurement: memory is touched, drivers finish compiling
    int runs;      // of one measurement; the least that is set here, or more, chosen by trials_run
    bool failed;
    struct samples ms, wall_ms; // one value per round
};

enum { TRIAL_RUNS_MAX = 64 };

// Measures all trials for `rounds` rounds or, where that is 0, for `seconds`. Shows progress on a terminal; stops early
// at a signal. False when one failed.
bool trials_run(struct trial *const *trials, int count, int rounds, double seconds);
void trial_finish(struct trial *trial); // frees its samples

// One line on standard error that the next one replaces, where that is a terminal; NULL clears it.
void bench_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
