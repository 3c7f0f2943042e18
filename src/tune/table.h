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
    const double *run_ms; // the single runs; borrowed
    int runs;
};

struct table {
    struct space space;
    struct table_result *result; // of each configuration; the caller's table_finish frees it
};

// Reads a file. Its configurations become the space; no parameter has `build` set. Returns false (logged) if it is not
// a T4 results file with times, or if it has a configuration twice. The table is then empty.
bool table_read(struct table *table, const char *path);
// Writes the results that are not TABLE_UNTRIED. `device`: its name. Returns false if the file cannot be written
// (logged).
bool table_write(const struct table *table, const char *device, const char *path);
void table_finish(struct table *table);

// The configuration with the shortest time; -1: none is correct.
int table_best(const struct table *table);
