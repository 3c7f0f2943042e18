// memory.h: what passes are measured on: pictures and memory made once for all cases, chains, plain copies
#pragma once

#include "command/bench/bench.h"
#include "command/bench/trial.h"
#include "path/resident.h"

struct bench_memory;

enum { BENCH_OUTPUTS = 2, BENCH_PICTURES_MAX = 64 }; // outputs of a path or a resident, which take turns

// `pictures` is how many of each shape take turns; 0: one of small pictures, which stay in large caches as a frame
// fresh from a camera does, and of large ones so many that no cache holds them.
struct bench_memory *bench_memory_open(int pictures);
void bench_memory_close(struct bench_memory *memory); // takes NULL; what was made from it must be closed by then

// Random pictures of one shape.
struct bench_pictures {
    struct image *image;
    int count;
};

// NULL on failure (logged).
const struct bench_pictures *bench_memory_pictures(struct bench_memory *memory, const struct image_shape *shape);
// The same pictures in the device's memory.
struct resident *bench_memory_resident(struct bench_memory *memory, struct device *device,
                                       const struct image_shape *shape, bool to_image);

// Random memory of the host to copy to and fro in, at least `bytes` large. Valid until the next call. NULL on failure
// (logged).
uint8_t *bench_memory_copies(struct bench_memory *memory, size_t bytes);

// ---- copy.c: a plain copy ----

struct bench_copy_setup {
    struct device *device; // in its memory; NULL: in the host's
    int threads;           // of the host
    size_t bytes;
    int sources; // that take turns
};

struct bench_copy;
struct bench_copy *bench_copy_open(struct bench_memory *memory, const struct bench_copy_setup *setup);
void bench_copy_close(struct bench_copy *copy); // takes NULL
bool bench_copy_run(void *copy, int runs, struct trial_time *time);
const char *bench_copy_way(const struct bench_copy *copy); // "memcpy", or as device_copy_way

// ---- subject.c: a chain ready to run on pictures of one shape, over and over ----

struct subject_setup {
    enum path_kind kind;
    struct device *device; // NULL for a path that needs none
    int threads;           // of the cpu path
    struct image_shape shape;
    const struct chain *chain;
    const char *variant; // as in path_setup
};

struct subject;
struct subject *subject_open(struct bench_memory *memory, const struct subject_setup *setup, char **error);
void subject_close(struct subject *subject); // takes NULL
bool subject_run(void *subject, int runs, struct trial_time *time);
// Runs on the first picture alone, and copies what comes out.
bool subject_first(struct subject *subject, struct image *rgba);
