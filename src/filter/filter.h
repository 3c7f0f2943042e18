// filter.h: what a filter is: a row with parameters, a CPU row function and an OpenCL function (docs/pixels.md section
// 3)
#pragma once

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum {
    FILTER_PARAMS = 4,      // parameters a filter may have
    FILTER_MATRIX = 81,     // numbers in the largest matrix, 9x9
    FILTER_ARGUMENTS = 260, // integers a filter may hand to its functions: a 256-entry table and a little
    FILTER_RADIUS_MAX = 15,
};

enum filter_kind {
    FILTER_POINT,    // a pixel depends on itself alone
    FILTER_STENCIL,  // on its neighbours within a radius
    FILTER_GEOMETRY, // pixels move, values stay
};

// What a filter does to grey: pixels whose three colours are alike.
enum filter_color {
    FILTER_KEEPS_GREY, // grey stays grey: each colour has the same rule
    FILTER_MAKES_GREY, // every pixel becomes grey
    FILTER_COLORS,     // grey may become coloured
};

enum param_type {
    PARAM_INT,
    PARAM_REAL,
    PARAM_CHOICE, // one word of `choices`; the value is its index
    PARAM_MATRIX, // 1, 9, 25, 49 or 81 numbers, or a word of `choices`, a preset
};

struct param {
    const char *name; // NULL ends the list
    enum param_type type;
    float min, max, preset; // PARAM_MATRIX: the default preset's index
    float step;             // for the live keys
    const char *choices;    // "luma|average"
    const char *help;
};

// The values a user gave one filter. Matrix numbers lie apart since at most one parameter is a matrix.
struct filter_values {
    float value[FILTER_PARAMS]; // PARAM_MATRIX: index of the preset, or -1 where numbers were given
    int matrix_side;            // 1, 3, 5, 7, 9 where numbers were given
    float matrix[FILTER_MATRIX];
};

// What the pixel functions get: integers worked out once on the host, so that every path computes with the same ones.
struct filter_arguments {
    int radius; // stencils: pixels on each side; otherwise 0
    int count;
    int32_t value[FILTER_ARGUMENTS];
};

enum { STENCIL_ROWS = 4 }; // that a filter makes at a time, at most

// Rows that a filter may ask memory for while it makes others, so that they have come when they are needed. Each is
// an RGBA row, or the one that is being made, where there is nothing to ask for. There are as many as a filter makes
// rows at a time.
struct next_rows {
    const uint8_t *in[STENCIL_ROWS];  // what will be read next, and after that
    const uint8_t *out[STENCIL_ROWS]; // what will be written behind the rows that are made now, and behind the next one
};

// An output row of a stencil, or a few, and what they are made from. Rows are RGBA or, for filters that take them,
// grey: one byte a pixel that stands for all three colours, alpha being elsewhere.
struct stencil_rows {
    // in[i] is input row y - radius + i for i in 0..2*radius; in[-1] is row y - radius - 1, unless this is the first
    // row of a band; for filters that make more rows, those behind in[2 * radius] are there as well. Each can be read
    // from pixel -radius to width - 1 + radius (edge pixels repeated).
    const uint8_t *const *in;
    uint8_t *out[STENCIL_ROWS]; // row y, and as many below it as the filter makes along with it
    int width, pixel_bytes;     // 4, or 1 in grey rows
    void *scratch;              // scratch_bytes() long, kept from row to row
    bool first;                 // of a band
    bool past;                  // RGBA rows may be written past the caches, nobody will read them soon
    struct next_rows next;
};

struct filter {
    const char *name;
    const char *summary; // one line
    const char *example; // chain text
    enum filter_kind kind;
    enum filter_color color;
    const struct param *params; // ended by a row without a name; NULL for none
    bool mirror, flip;          // FILTER_GEOMETRY: what it does

    // Works out radius and arguments. False where each value is in its range but they are impossible together; *why is
    // then a static text. NULL: radius 0 and no arguments.
    bool (*prepare)(const struct filter_values *values, struct filter_arguments *arguments, const char **why);

    // FILTER_POINT: `width` RGBA pixels, from one row to another, or in place: from == to. `past`: may be written past
    // the caches; not in place, and `to` must then be aligned as base/avx2.h says.
    void (*point_row)(const struct filter_arguments *arguments, const uint8_t *from, uint8_t *to, int width, bool past);

    // FILTER_STENCIL: makes rows->out[0] and `more_rows` below it, which may lie below the picture.
    void (*stencil_row)(const struct filter_arguments *arguments, const struct stencil_rows *rows);
    int more_rows;
    // Whether it takes rows without edge pixels repeated, since it never reads beyond their ends. NULL: it does read
    // there.
    bool (*bare_rows)(const struct filter_arguments *arguments);
    bool grey_rows;                                                               // takes grey rows, too
    size_t (*scratch_bytes)(const struct filter_arguments *arguments, int width); // NULL: no scratch
};

// Every filter, in the order of the help; NULL-ended.
extern const struct filter *const filters[];

const struct filter *filter_find(const char *name); // NULL when there is none
// Chain text of one filter that a wrong name probably means: "sobel" for "edges"; NULL when there is none.
const char *filter_advice(const char *word);
int filter_param_count(const struct filter *filter);
// Whether pictures are grey behind the filter that are grey, or not, ahead of it.
bool filter_leaves_grey(const struct filter *filter, bool grey);
