// paths_test.h: one case of the path test: a format, a size, a chain, some frames; run and compared with the reference
#pragma once

#include "check.h"
#include "path/path.h"
#include "pictures.h"

// What a case requests. RESULT_TURN: one of the others in turn.
enum result {
    RESULT_TURN,
    RESULT_PIXELS,
    RESULT_PIXELS_YUV,
    RESULT_YUV,
    RESULT_PIXELS_MEASURES,
    RESULT_MEASURES,
    RESULT_ALL,
    RESULT_COUNT
};

// The path under test and its settings.
struct path_test {
    struct check check;
    enum path_kind kind;
    struct device *device;     // NULL: the path needs none
    struct gl_context *gl;     // bound to the thread; NULL: the path needs none
    struct device *stranger;   // a second device; some frames lie in its memory; NULL: none
    const char *kernels;       // as in struct path_setup
    const char *variant;       // as in struct path_setup
    struct image_shape encode; // the YUV output besides RGBA; width 0: none
    bool encoded_only;         // only the YUV output
    unsigned measures;         // as in struct path_setup
    int strips;
    bool measured_only;
    enum result result;
    bool chains;  // only the chains of path_filters; else a device, which compiles each, runs every third one
    bool streams; // the cpu path treats every frame as larger than the caches
    struct random random;
    long cases;
};

// A format of a case: one of enum pixfmt, or RGBA whose alpha is 255 everywhere.
#define CASE_OPAQUE PIXFMT_COUNT
enum { CASE_FORMATS = PIXFMT_COUNT + 1 };

struct path_case {
    enum pixfmt format;
    int width, height;
    struct color color; // zero: each of all six in turn
    const char *chain;
    int depth, frames, threads; // zero: several values in turn
};

// Opens the path, runs the frames and compares every byte. Returns false at the first difference, after printing its
// place. If section 4 or the matrix rule refuses the chain, chain_parse must refuse it, too. Returns true if the format
// has no such size.
bool path_case_run(struct path_test *test, const struct path_case *setup);
bool path_case(struct path_test *test, enum pixfmt format, const int size[2], const char *chain);

// Runs one frame on an open path and compares it with the reference of `chain`.
bool path_frame_run(struct path_test *test, struct path *path, const struct image_shape *shape, const char *chain);

// The YUV outputs change from case to case.
struct path_setup path_case_setup(struct path_test *test, const struct image_shape *shape, const struct chain *chain);

// Texts of each filter with its extremes, and of chains with geometry and stencils in every place; NULL at the end.
extern const char *const path_filters[], *const path_chains[];

// paths_cases.c: tables of cases, and `rounds` random chains.
void paths_formats(struct path_test *test);
void paths_filters(struct path_test *test);
void paths_random(struct path_test *test, long rounds);

// paths_array.c: covering arrays of formats, filters, sizes, results, variants and the other settings.
void paths_array(struct path_test *test);
void paths_streaming_stores(struct path_test *test); // cpu
void paths_chains(struct path_test *test);           // cpu

// paths_vectors.c: cases of the cpu path that depend on the vector instructions. `all`: each width.
void paths_vectors(struct path_test *test, bool all);

// paths_exact.c: formulas at all of their values, or at some.
void paths_exact(struct path_test *test, bool all);

// paths_swap.c: changes of the chain, and failing ones.
void paths_swap(struct path_test *test);
