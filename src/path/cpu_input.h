// cpu_input.h: rows of the picture as a run's first pass takes them: RGBA, turned, through the point filters ahead of
// its stencil
//
// Rows are numbered as the pass sees them: a picture that it flips has its last row first.
#pragma once

#include "path/cpu_rows.h"

// Row `y` where it lies in the picture, which is RGBA and has it.
const uint8_t *cpu_input_row(const struct cpu_run *run, int y);

// The same of a picture that may be no RGBA, or end above row `y`: NULL then.
const uint8_t *cpu_input_rgba_row(const struct cpu_run *run, int y);

// Puts row `y` into `to`, as RGBA.
void cpu_input_load(const struct cpu_run *run, int y, uint8_t *to);

// The same as one byte a pixel, for a pass whose stencil sees grey. `rgba` has room for a row.
void cpu_input_load_grey(const struct cpu_run *run, int y, uint8_t *rgba, uint8_t *to);

// Whether a run's rows are made past the caches. No stencil and no encoder may be there to read them again.
bool cpu_input_goes_past(const struct cpu_run *run);

// Puts row `y` of such a run into its output, `to`. `rgba` has room for a row.
void cpu_input_load_past(const struct cpu_run *run, int y, uint8_t *rgba, uint8_t *to);

// Runs point filters over a row: the first from `from` to `rgba`, the others in `rgba`. Returns where the row is then,
// which is `from` where there are none.
const uint8_t *cpu_point_filters(const struct stage *const *stages, int count, const uint8_t *from, uint8_t *rgba,
                                 int width);
