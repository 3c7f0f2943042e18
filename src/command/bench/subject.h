// subject.h: runs a chain, a measure, or a plain copy or read repeatedly, on pictures of one shape, for a trial
#pragma once

#include "command/bench/memory.h"
#include "command/bench/trial.h"

struct bench_subject_setup {
    enum path_kind kind;
    struct device *device; // for paths that need one
    struct gl_context *gl; // current; for the gl path
    int threads;           // of the cpu path
    struct tuned *tuned;   // for the cpu path
    struct image_shape shape;
    const struct chain *chain;
    const char *variant;                 // as in path_setup
    const struct bench_measure *measure; // NULL: the chain
};

// On failure returns NULL, and *error has the reason or is NULL (logged); the caller frees it.
struct bench_subject;
struct bench_subject *bench_subject_open(struct bench_memory *memory, const struct bench_subject_setup *setup,
                                         char **error);
void bench_subject_close(struct bench_subject *subject); // accepts NULL
bool bench_subject_run(void *subject, int runs, struct trial_time *time);
// Runs on the first picture and compares the output with the cpu path's. Logs the first difference of `what`.
bool bench_subject_check(struct bench_subject *subject, const char *what);

// A copy reads `bytes` and writes as many.
struct copy_setup {
    struct device *device; // copies in its memory; NULL: in the host's
    int threads;           // of the host
    size_t bytes;
    int sources; // used in turn
    bool reads;  // without a device: it only reads
};

struct copy;
struct copy *copy_open(struct bench_memory *memory, const struct copy_setup *setup); // NULL on failure (logged)
void copy_close(struct copy *copy);                                                  // accepts NULL
bool copy_run(void *copy, int runs, struct trial_time *time);
const char *copy_way(const struct copy *copy); // "memcpy", "read", or as device_copy_way
