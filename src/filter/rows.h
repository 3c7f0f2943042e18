// rows.h: rows of filters on the CPU: the generic code, and faster variants
#pragma once

#include "base/vectors.h"
#include "filter/filter.h"

enum { STENCIL_ROWS = 4 }; // maximum number of rows that a row function makes per call

// A row that a later call reads, and a row that it writes.
struct row_prefetch {
    const uint8_t *in;
    uint8_t *out;
};

// The output rows of a stencil filter, and the input rows that they are made from.
struct stencil_rows {
    // With R = arguments.rows, in[i] is input row y - R + i, for i from 0 to 2 * R + rows - 1 (`rows` of the variant).
    // in[-1] is row y - R - 1; it must not be used if `first`. Each row can be read from pixel -radius to
    // width - 1 + radius, because the edge pixels are repeated.
    const uint8_t *const *in;
    uint8_t *const *out; // row y, and the next rows that the variant makes
    int width, step;     // step: bytes from one pixel to the next: 4 in RGBA rows, 1 in grey rows
    void *scratch;       // the variant's scratch_bytes, kept from call to call within a band
    bool first;          // the first call of a band
    // The rows to prefetch, as many as the variant makes per call. Variants that are slower than memory ignore them.
    struct row_prefetch prefetch[STENCIL_ROWS];
};

// Makes `width` RGBA pixels, from one row to another or in place (from == to). `stream`: with non-temporal stores,
// only to another row.
typedef void point_row(const struct filter_arguments *arguments, const uint8_t *from, uint8_t *to, int width,
                       bool stream);
// The same for row `y` and a filter that gets the places of its pixels.
typedef void placed_row(const struct filter_arguments *arguments, const uint8_t *from, uint8_t *to, int width, int y);
// The same for a filter that gets a row of a second picture (filter.h), too.
typedef void second_row(const struct filter_arguments *arguments, const uint8_t *from, const uint8_t *second,
                        uint8_t *to, int width, int y);
// Makes the rows of a variant. Alpha is copied from the centre pixels, unless arguments.alpha.
typedef void stencil_row(const struct filter_arguments *arguments, const struct stencil_rows *rows);

// One way to make the rows of a filter.
struct row_variant {
    const char *name;                                                            // NULL ends a list
    const char *filter;                                                          // the filter's name
    bool tables;                                                                 // or: all filters with `table`
    bool (*fits)(const struct filter_arguments *arguments, int width, int step); // NULL: always
    point_row *point;                                                            // one of these four is set
    placed_row *placed;
    stencil_row *stencil;
    second_row *second;
    int rows; // rows that `stencil` makes per call, 1 to STENCIL_ROWS
    size_t (*scratch_bytes)(const struct filter_arguments *arguments, int width, int step); // NULL: 0
};

// The RGBA picture that a warp reads.
struct warp_source {
    const uint8_t *pixels;
    size_t stride;
    int width, height;
};
// Makes row `y` of a warp's output from its arguments (filter/warp.h).
typedef void warp_row(const int32_t *numbers, const struct warp_source *from, int y, uint8_t *to);
// Makes a row of the pixels at these places, in 1/256 pixel. `u` and `v` have room for a multiple of 16 numbers.
typedef void warp_places(const int32_t *u, const int32_t *v, int width, const struct warp_source *from, uint8_t *to);

// The code that meson.build compiles once per level of vector instructions.
struct row_level {
    const struct row_variant *const *variants; // lists of variants, NULL-ended
    const struct row_variant *generic;
    // Grey RGBA pixels to one byte per pixel, and back. from_grey takes alpha from the RGBA pixels `alpha`; NULL: 255.
    void (*to_grey)(const uint8_t *rgba, uint8_t *grey, int width);
    void (*from_grey)(const uint8_t *grey, const uint8_t *alpha, uint8_t *rgba, int width);
    // Copies with non-temporal stores, for memory that is not read soon. The thread needs a full memory barrier before
    // another thread reads.
    void (*stream)(const uint8_t *from, uint8_t *to, size_t bytes);
    warp_row *warp, *taps; // from a grid; from taps
    warp_places *warp_at;
};
VECTORS_TABLE(const struct row_level, row_level)

// Returns the first variant that fits, or the generic code if none fits. If `wanted` is not NULL, only variants with
// this name count. Returns NULL for filters that only move pixels.
const struct row_variant *row_variant_choose(const struct filter *filter, const struct filter_arguments *arguments,
                                             int width, int step, const char *wanted);
bool row_variant_fits(const struct row_variant *row, const struct filter *filter,
                      const struct filter_arguments *arguments, int width, int step);
// The generic code of a stencil: one row per call, without scratch memory.
const struct row_variant *row_variant_generic(const struct filter *filter);

// The arguments of convolve: offset: bias and rounding, added to the sum. narrow: every weight is in -128..127.
enum { CONVOLVE_SHIFT, CONVOLVE_OFFSET, CONVOLVE_NARROW, CONVOLVE_WEIGHTS };
