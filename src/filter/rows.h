// rows.h: rows of pixels that filters make on the processor: the generic code, and faster variants
#pragma once

#include "base/vectors.h"
#include "filter/filter.h"

enum { STENCIL_ROWS = 4 }; // rows that a row function makes per call, at most

// The output rows of a stencil filter, and the input rows that they are made from.
struct stencil_rows {
    // in[i] is input row y - radius + i, for i from 0 to 2 * radius + rows - 1 (`rows` of the variant). in[-1] is row
    // y - radius - 1, unless `first`. Each row can be read from pixel -radius to width - 1 + radius: edge pixels are
    // repeated.
    const uint8_t *const *in;
    uint8_t *const *out; // row y, and the next ones of the variant
    int width, step;     // step: bytes from a pixel to the next: 4 in RGBA rows, 1 in grey rows
    void *scratch;       // the variant's scratch_bytes, kept from call to call within a band
    bool first;          // the first call of a band
};

// `width` RGBA pixels, from one row to another or in place (from == to).
typedef void point_row(const struct filter_arguments *arguments, const uint8_t *from, uint8_t *to, int width);
// Alpha comes from the row at the centre.
typedef void stencil_row(const struct filter_arguments *arguments, const struct stencil_rows *rows);

// One way to make the rows of a filter.
struct row_variant {
    const char *name;                                                            // NULL ends a list
    const char *filter;                                                          // its name
    bool (*fits)(const struct filter_arguments *arguments, int width, int step); // NULL: always
    point_row *point;                                                            // one of these two
    stencil_row *stencil;
    int rows; // that `stencil` makes per call, 1 to STENCIL_ROWS
    size_t (*scratch_bytes)(const struct filter_arguments *arguments, int width, int step); // NULL: 0
};

// What meson.build compiles once per level of vector instructions.
struct row_level {
    const struct row_variant *const *variants; // lists of these, NULL-ended
    const struct row_variant *generic;
    // From RGBA that is grey to one byte per pixel, and back; with the alpha of the pixels `alpha`, or 255 if that is
    // NULL.
    void (*to_grey)(const uint8_t *rgba, uint8_t *grey, int width);
    void (*from_grey)(const uint8_t *grey, const uint8_t *alpha, uint8_t *rgba, int width);
    // Copies with non-temporal stores, for memory that nobody reads soon. The thread that copied calls stream_end
    // before another one reads.
    void (*stream)(const uint8_t *from, uint8_t *to, size_t bytes);
    void (*stream_end)(void);
};
VECTORS_TABLE(const struct row_level, row_level)

// Returns the fastest way that this processor has, or the variant with the name `wanted` (not NULL) if it fits, else
// the generic code. NULL for filters that only move pixels.
const struct row_variant *row_variant_choose(const struct filter *filter, const struct filter_arguments *arguments,
                                             int width, int step, const char *wanted);
bool row_variant_fits(const struct row_variant *row, const struct filter *filter,
                      const struct filter_arguments *arguments, int width, int step);
// The generic code of a stencil: one row per call, without scratch memory.
const struct row_variant *row_variant_generic(const struct filter *filter);
