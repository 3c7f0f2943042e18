// trial.h: measures several things in turns, each once per round, so that disturbances affect all of them equally
#pragma once

#include "base/stats.h"

#include <stdint.h>

struct trial_time {
    double ms;      // the reported time: by the device's clock if there is one
    double wall_ms; // by the host's clock
};

struct trial {
    // Makes `runs` runs and sets the average time of one. Returns false on failure (logged); the trial is then left
    // out.
    bool (*run)(void *context, int runs, struct trial_time *time);
    void (*keep)(void *context); // stores more results of the measurement that was just made; NULL: there are none
    void *context;
    int warm_runs; // before the first measurement: memory is touched, drivers finish compiling
    int runs;      // runs of one measurement; trials_run may raise it
    bool failed;
    struct samples ms, wall_ms; // one value per round
};

enum { TRIAL_RUNS_MAX = 64 };

// Measures all trials for `rounds` rounds or, if that is 0, for `seconds`; both 0: 30 rounds. Shows progress on a
// terminal. A signal ends it early. Returns false if one failed.
bool trials_run(struct trial *const *trials, int count, int rounds, double seconds);
void trial_finish(struct trial *trial); // frees its samples

// Shows a line on standard error, if that is a terminal, in place of the line before. NULL clears the line.
void bench_progress(const char *format, ...) __attribute__((format(printf, 1, 2)));
