// cpu_rows.h: passes of the cpu path over a band of rows
//
// A picture is divided into bands of rows, which threads share. Consecutive passes form a run: each row of a band goes
// through all of them while it is in the cache, and only the rows of the last pass are written to memory.
#pragma once

#include "filter/plan.h"
#include "filter/rows.h"
#include "image/convert.h"
#include "path/path.h"

// A pass, and the row variants that make its rows.
struct cpu_pass {
    const struct pass *pass;
    const struct row_variant *before[CHAIN_MAX], *stencil, *after[CHAIN_MAX]; // of the pass's stages
    int32_t *warp;  // arguments of the pass's warp; NULL: no warp, or a user's
    int first, end; // the rows of its input that the warp reads
    bool moves;     // the warp moves all pixels by `right` and `down`, for example `crop`
    int right, down;
    int step;             // bytes of a pixel in the stencil's rows: 4, or 1 if they are grey
    int lines;            // input rows that the stencil keeps
    int kept;             // rows that masks of the pass keep
    size_t scratch_bytes; // of the stencil's row variant, or for the places of a user's warp
};

struct cpu_run {
    const struct cpu_pass *passes;
    int count;
    struct image *from;           // only the feed changes it
    struct image *to;             // RGBA; planes NULL: only `encoded` is made
    struct image *encoded;        // the picture of `to` as YUV; NULL: not wanted, or made by a later run
    const struct image *second;   // the second picture of the last pass, which may replace it; NULL: none
    const struct path_feed *feed; // provides the rows of `from` and takes the rows of `encoded`; NULL: whole pictures
    struct encoder encoder;
    struct color_coefficients coefficients; // of `from`
    uint8_t *scratch;                       // of all bands, one after the other
    size_t scratch_bytes;                   // of one band
    int first, end;                         // the rows of `to` that are made
    int bands;
    int prefetch; // stencils prefetch the picture's rows, read or written, of this many calls ahead; 0 or less: none
    bool streams; // the rows of `to` are written with non-temporal stores; only where no pass has a stencil
};

// `pass` must outlive `cpu`. `variant` as in path_setup. False: out of memory.
bool cpu_pass_init(struct cpu_pass *cpu, const struct pass *pass, const char *variant);
void cpu_pass_finish(struct cpu_pass *cpu); // accepts a zeroed pass
// Returns the number of passes, of these `count` and from the first on, that form a run (at least 1). Only its first
// pass may have a warp. Bands have `band_rows` rows.
int cpu_run_length(const struct cpu_pass *passes, int count, int band_rows);
// Returns the bytes of scratch memory that each band of such a run needs, a multiple of IMAGE_ALIGNMENT.
size_t cpu_run_scratch_bytes(const struct cpu_pass *passes, int count);
// Returns the number of input rows that a run may read below the output row that it makes.
int cpu_run_reach(const struct cpu_pass *passes, int count);
// Makes band `number`, 0 to bands - 1, of a struct cpu_run. On any thread: bands are independent of each other.
void cpu_run_band(void *run, int number);

// Compiles the users' filters of a chain that have no row function yet, or loads them from the cache directory. A
// child process compiles, within limits. On any thread. False on failure: *error as in path_open.
bool user_rows_make(const struct chain *chain, char **error);
