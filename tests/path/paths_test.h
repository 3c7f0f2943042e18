// paths_test.h: one case of the path test: a format, a size, a chain, some frames; run and compared with the reference
#pragma once

#include "check.h"
#include "path/path.h"
#include "pictures.h"

// What is tested, and with what.
struct path_test {
    struct check check;
    enum path_kind kind;
    struct device *device;     // NULL for PATH_CPU
    struct device *stranger;   // a second device; both have memory of their own, and some frames lie in it; NULL: none
    const char *variant;       // as in struct path_setup
    struct image_shape encode; // what the present path gives besides; width 0: nothing
    bool encoded_only;         // it gives nothing else
    bool past_caches;          // the cpu path takes every picture for larger than its caches, and is to give it alone
    struct random random;
    long cases;
};

struct path_case {
    enum pixfmt format;
    int width, height;
    struct color color; // zero: the next of all six
    const char *chain;
    int depth, frames, threads; // zero: they take turns
};

// Opens the path, runs the frames and compares every byte. A chain that section 4 or the matrix rule refuses must be
// refused by chain_parse, and counts as run. False on the first difference, which is printed with its place.
bool path_case_run(struct path_test *test, const struct path_case *setup);

// One frame through an open path, compared with the reference of `chain`.
bool path_frame_run(struct path_test *test, struct path *path, const struct image_shape *shape, const char *chain);

// What is given besides takes turns with the cases.
struct path_setup path_case_setup(struct path_test *test, const struct image_shape *shape, const struct chain *chain);

// paths_cases.c: what is run. `rounds` random chains.
void paths_formats(struct path_test *test);
void paths_past_caches(struct path_test *test);
void paths_widths(struct path_test *test);
void paths_filters(struct path_test *test);
void paths_chains(struct path_test *test);
void paths_random(struct path_test *test, long rounds);

// paths_exact.c: formulas at each of their values, or at some of them.
void paths_exact(struct path_test *test, bool all);

// paths_swap.c: changing the chain, and failing to.
void paths_swap(struct path_test *test);
