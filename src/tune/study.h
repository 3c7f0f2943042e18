// study.h: files of trials of tuners (T4 and others), and searches replayed on them
#pragma once

#include "base/file.h"
#include "tune/search.h"
#include "tune/space.h"
#include "tune/tuner.h"

#include <stdio.h>

enum t4_state {
    T4_UNTRIED,
    T4_CORRECT,
    T4_COMPILE, // it did not build
    T4_RUNTIME, // it failed or crashed
    T4_CORRECTNESS,
    T4_CONSTRAINTS, // not allowed on this device
    T4_TIMEOUT,
};

struct t4_result {
    enum t4_state state;
    double ms; // INFINITY unless T4_CORRECT
    // For t4_write; t4_read sets 0.
    double compile_ms, check_ms;
    const double *run_ms; // the single measurements; borrowed
    int runs;
};

struct t4_table {
    struct space space;
    struct t4_result *result; // one per configuration; t4_finish frees them
};

// Reads a T4 results file, a cache of Kernel Tuner or the JSON output of KTT, which may be packed with gzip. Its
// configurations become the space. Returns false (logged) if the file cannot be read, is not such a file with times, or
// has a configuration twice. The table is then empty.
bool t4_read(struct t4_table *table, const char *path);
// Writes the results that are not T4_UNTRIED. `device` is the device's name. Returns false if the file cannot be
// written (logged).
bool t4_write(const struct t4_table *table, const char *device, struct claim *claim);
void t4_finish(struct t4_table *table);

// Returns the configuration with the shortest time; -1: no result is T4_CORRECT.
int t4_best(const struct t4_table *table);

// ---- replay ----

struct replay {
    const char *table;           // path of a T4 results file
    const struct strategy *only; // NULL: all
    int budget, seeds;
    bool json;
};

// Runs each strategy with each seed on the table. Prints the optimum's time divided by the best time found. Returns the
// exit code.
int replay_run(const struct replay *replay);
