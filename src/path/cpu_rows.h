// cpu_rows.h: passes of the cpu path over a band of rows
//
// A picture is cut into bands of rows, which threads share out. Some passes in a row make a run: within a band each row
// goes through all of them while it is in cache, and only what the last one makes goes to memory.
#pragma once

#include "filter/plan.h"
#include "image/convert.h"
#include "image/encode.h"
#include "path/path.h"

struct cpu_run {
    const struct pass *passes;
    int count;
    struct image *from;    // not changed, but by the feed
    struct image *to;      // RGBA; with planes that are NULL nothing but `encoded` is made
    struct image *encoded; // what `to` shows as YUV, made row by row as well; NULL: not wanted, or made by a later run
    const struct path_feed *feed; // brings the rows of `from`, takes those of `encoded`; NULL: they are there, and stay
    struct encoder encoder;
    struct color_coefficients coefficients; // of `from`
    uint8_t *scratch;                       // of all bands, one behind the other
    size_t scratch_bytes;                   // of one band
    int bands;
    bool past_caches; // nobody reads `to` while caches hold it, and it begins at a page: it may be written past them
};

// How many of these `count` passes, from the first on, make a run (at least 1), when bands have `band_rows` rows.
int cpu_run_length(const struct pass *passes, int count, int band_rows);
// Bytes of scratch memory that each band of such a run needs, a multiple of IMAGE_ALIGNMENT.
size_t cpu_run_scratch_bytes(const struct pass *passes, int count, int width);
// How many rows of its input a run may take beyond the row of output that it makes.
int cpu_run_reach(const struct pass *passes, int count);
// Makes band `number`, 0..bands-1, of a struct cpu_run. On any thread: bands are independent of each other.
void cpu_run_band(void *run, int number);
