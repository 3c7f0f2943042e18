// bench_subject.h: runs a chain, a measure, or a plain copy or read repeatedly, on pictures of one shape
#pragma once

#include "compute/timing.h"
#include "measure/pool.h"

struct bench_subject_setup {
    enum path_kind kind;
    struct device *device; // for paths that need one
    struct gl_context *gl; // current; for the gl path
    int threads;           // of the cpu path
    struct tuned *tuned;   // for the cpu path
    struct image_shape shape;
    const struct chain *chain;
    const char *variant;                   // as in path_setup
    const struct picture_measure *measure; // NULL: the chain
};

// On failure returns NULL, and *error has the reason or is NULL (logged); the caller frees it.
struct bench_subject;
struct bench_subject *bench_subject_open(struct picture_pool *pool, const struct bench_subject_setup *setup,
                                         char **error);
void bench_subject_close(struct bench_subject *subject); // accepts NULL
// Sets the average times of a run. Without a device's clock, both are the host's. False on failure (logged).
bool bench_subject_run(struct bench_subject *subject, int runs, struct timing *timing);
// Runs on the first picture and compares the output with the cpu path's. Logs the first difference of `what`.
bool bench_subject_check(struct bench_subject *subject, const char *what);

// A copy reads `bytes` and writes as many.
struct bench_copy_setup {
    struct device *device; // copies in its memory; NULL: in the host's
    int threads;           // of the host
    size_t bytes;
    int sources; // used in turn
    bool reads;  // without a device: it only reads
};

struct bench_copy;
struct bench_copy *bench_copy_open(struct picture_pool *pool,
                                   const struct bench_copy_setup *setup); // NULL on failure (logged)
void bench_copy_close(struct bench_copy *copy);                           // accepts NULL
bool bench_copy_run(struct bench_copy *copy, int runs, struct timing *timing);
