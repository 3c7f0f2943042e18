// cpu_rows.h: passes of the cpu path over a band of rows
//
// A picture is divided into bands of rows, which threads share. Consecutive passes form a run: each row of a band goes
// through all of them while it is in the cache, and only the rows of the last pass are written to memory.
#pragma once

#include "base/vectors.h"
#include "compute/tuned.h"
#include "filter/chain.h"
#include "filter/plan.h"
#include "filter/rows.h"
#include "image/convert.h"
#include "image/image.h"
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

// ---- parameters that change the speed of the cpu path, never its bytes, and their tuning results ----

enum cpu_param { CPU_BANDS, CPU_PREFETCH, CPU_STREAM, CPU_PARAMS };
enum { CPU_VALUES = 8, CPU_TUNING_TEXT = 64, CPU_KEY = 512 };

// A parameter, and its legal values in ascending order.
struct cpu_param_info {
    const char *name;
    int values, value[CPU_VALUES];
};
extern const struct cpu_param_info cpu_params[CPU_PARAMS];

enum { CPU_UNSET = -1 };
struct cpu_tuning {
    int value[CPU_PARAMS]; // CPU_UNSET: the default
};

// Parses "rows" or "rows:BANDS=8:PREFETCH=2"; parameters that are left out become CPU_UNSET. False for any other text
// and for illegal values.
bool cpu_tuning_parse(struct cpu_tuning *tuning, const char *text);
void cpu_tuning_print(const struct cpu_tuning *tuning, char text[CPU_TUNING_TEXT]);

struct path_setup;
// Writes the default values. CPU_UNSET: the parameter does not change how this setup runs.
void cpu_tuning_preset(const struct path_setup *setup, struct cpu_tuning *preset);

// A chain on the cpu path as a key of the database: "cpu:nv21>blur2+gray>rgba" on this processor. Do not move or copy
// it: `key` points to its other members.
struct cpu_key {
    struct tuned_key key;
    char chain[CPU_KEY], size[TUNED_SIZE], model[PROCESSOR_NAME], vendor[PROCESSOR_NAME];
};
void cpu_key_make(struct cpu_key *key, const struct chain *chain, const struct image_shape *input, int threads);

// Finds the best entry of the database with legal values. False: there is none among the 50 best entries.
bool cpu_tuned(struct tuned *tuned, const struct cpu_key *key, struct cpu_tuning *tuning, struct tuned_found *found);
