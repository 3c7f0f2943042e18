// cpu_ends.h: the ends of rows that a stencil reads where they lie in the picture
//
// There a row's edge pixels are not repeated, as a stencil takes them: beyond its ends are other rows, and the pixels
// that see those come out wrong. They are made once more, from a narrow picture of both ends of the rows.
#pragma once

#include "filter/plan.h"

struct cpu_ends {
    const struct stage *stencil;
    int width;      // of the picture
    uint8_t *lines; // of both ends
    uint8_t *own;   // what the stencil keeps of them
    uint8_t *made;  // what it makes of them: two rows
};

// Whether rows of that width have ends.
bool cpu_ends_fit(const struct stage *stencil, int width);
size_t cpu_ends_bytes(const struct stage *stencil);
void cpu_ends_begin(struct cpu_ends *ends, const struct stage *stencil, int width, uint8_t *scratch);
// Of a row of the picture, which comes into the ring of lines at `place`.
void cpu_ends_take(const struct cpu_ends *ends, const uint8_t *row, int place);
// Makes right the ends of what the stencil made; the rows rows->in[-1 + i] are at places[i].
void cpu_ends_make(const struct cpu_ends *ends, const struct stencil_rows *rows, const int *places);
