// cpu_rows.h: passes of the cpu path over a band of rows
#pragma once

#include "filter/plan.h"
#include "image/convert.h"
#include "image/encode.h"

// Passes that follow one another, over one picture. A row goes from one to the next while it is in cache.
struct cpu_run {
    const struct pass *passes;
    int count;
    const struct image *from;
    struct image *to;      // planes NULL: rows go through scratch memory into `encoded` alone
    struct image *encoded; // NULL: not wanted, or not of this run
    struct encoder encoder;
    struct color_coefficients coefficients; // of `from`
    uint8_t *scratch;                       // of all bands, one behind the other
    size_t scratch_bytes;                   // of one band
    int bands;
    bool past_caches; // `to`, which begins at a page, is more than they hold
};

// How many of `count` passes, 1 or more, make a run in bands of `band_rows`.
int cpu_run_length(const struct pass *passes, int count, int band_rows);
// What a band of such a run needs, a multiple of IMAGE_ALIGNMENT.
size_t cpu_run_scratch_bytes(const struct pass *passes, int count, int width);
// Makes band `number`, 0..bands-1, of the struct cpu_run; bands are independent of each other.
void cpu_run_band(void *run, int number);
