// filters.h: the rows of the measurements `filters` and `variants`
#pragma once

#include "command/bench/memory.h"

struct copy_row {
    struct bench_copy *copy;
    struct bench_copy_setup setup;
    struct trial trial;
};

struct filters_row {
    const struct bench_chain *chain;
    struct image_shape shape;
    enum path_kind path;
    int threads;
    const char *variant;     // NULL: the path chooses
    struct subject *subject; // NULL: could not be built, or computes something else
    struct trial trial;
    struct copy_row *copy;
};

struct filters_bench {
    struct bench_wish *wish;
    struct device *device;
    bool variants; // a row for the generic code, and for each variant that fits
    struct bench_memory *memory;
    struct filters_row **row;
    struct copy_row **copy;
    int rows, copies;
    char cpu_name[128];
};

// ---- filters_rows.c ----

// Lists what is to be measured. False where it cannot be (logged).
bool filters_choose(struct filters_bench *bench);
// Builds the row's chain, checks what it computes, and finds the copy to set beside it. False: logged.
bool filters_open(struct filters_bench *bench, struct filters_row *row);
