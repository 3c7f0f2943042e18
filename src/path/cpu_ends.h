// cpu_ends.h: mends the ends of rows that a stencil made straight from the picture
//
// A stencil expects a row's edge pixels to be repeated beyond its ends. In the picture itself other rows are there
// instead, so that the first and the last few pixels of each output row come out wrong. These are made once more, from
// a narrow picture: both ends of each row side by side, with their edge pixels repeated.
#pragma once

#include "filter/plan.h"

struct cpu_ends {
    const struct stage *stencil;
    int width;      // of the picture
    uint8_t *lines; // the narrow picture's last few rows, used in turns
    uint8_t *own;   // what the filter keeps from row to row of it
    uint8_t *made;  // two rows that the filter makes of it
};

// Whether rows of that width are long enough for two ends.
bool cpu_ends_fit(const struct stage *stencil, int width);
// Bytes of scratch memory that cpu_ends_begin takes.
size_t cpu_ends_bytes(const struct stage *stencil);
void cpu_ends_begin(struct cpu_ends *ends, const struct stage *stencil, int width, uint8_t *scratch);
// Copies the ends of a row of the picture to line `place` of the narrow one.
void cpu_ends_take(const struct cpu_ends *ends, const uint8_t *row, int place);
// Mends the rows that the stencil has just made, as `rows` says. The ends of input row rows->in[i - 1] are in line
// places[i].
void cpu_ends_make(const struct cpu_ends *ends, const struct stencil_rows *rows, const int *places);
