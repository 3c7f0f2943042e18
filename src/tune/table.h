// table.h: measured configurations as a T4 results file, the JSON format of the auto-tuning community (Kernel Tuner)
#pragma once

#include "tune/space.h"

enum table_state {
    TABLE_UNTRIED,
    TABLE_CORRECT,
    TABLE_COMPILE, // it did not build
    TABLE_RUNTIME, // it failed or crashed
    TABLE_CORRECTNESS,
    TABLE_CONSTRAINTS, // not allowed on this device
    TABLE_TIMEOUT,
};

struct table_result {
    enum table_state state;
    double ms; // INFINITY unless TABLE_CORRECT
    // For table_write; table_read sets 0.
    double compile_ms, check_ms;
    const double *run_ms; // the single measurements; borrowed
    int runs;
};

struct table {
    struct space space;
    struct table_result *result; // one per configuration; table_finish frees them
};

// Reads a file. Its configurations become the space; no parameter has `build` set. Returns false (logged) if the file
// cannot be read, is not a T4 results file with times, or has a configuration twice. The table is then empty.
bool table_read(struct table *table, const char *path);
// Writes the results that are not TABLE_UNTRIED. `device` is the device's name. Returns false if the file cannot be
// written (logged).
bool table_write(const struct table *table, const char *device, const char *path);
void table_finish(struct table *table);

// Returns the configuration with the shortest time; -1: no result is TABLE_CORRECT.
int table_best(const struct table *table);
