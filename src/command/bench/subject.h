// subject.h: runs a chain or a plain copy repeatedly, on pictures of one shape, for a trial
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
    const char *variant; // as in path_setup
};

// On failure returns NULL, and *error has the reason or is NULL (logged); the caller frees it.
struct bench_subject;
struct bench_subject *bench_subject_open(struct bench_memory *memory, const struct bench_subject_setup *setup,
                                         char **error);
void bench_subject_close(struct bench_subject *subject); // accepts NULL
bool bench_subject_run(void *subject, int runs, struct trial_time *time);
// Runs on the first picture and copies the output to `rgba`.
bool bench_subject_first(void *subject, struct image *rgba);

struct copy_setup {
    struct device *device; // copies in its memory; NULL: in the host's
    int threads;           // of the host
    size_t bytes;
    int sources; // used in turn
};

struct copy;
struct copy *copy_open(struct bench_memory *memory, const struct copy_setup *setup); // NULL on failure (logged)
void copy_close(struct copy *copy);                                                  // accepts NULL
bool copy_run(void *copy, int runs, struct trial_time *time);
const char *copy_way(const struct copy *copy); // "memcpy", or as device_copy_way
