// cpu_lines.h: how much memory the rows take that a band works on
#pragma once

#include "filter/plan.h"
#include "image/image.h"

#include <stddef.h>

enum { OWN_LINES = 4 }; // of each band, besides those of its stencils: struct band's pair, rgba and grey

// A line is memory for one row. All sizes are bytes, multiples of IMAGE_ALIGNMENT.

static inline size_t line_align(size_t bytes)
{
    return (bytes + IMAGE_ALIGNMENT - 1) / IMAGE_ALIGNMENT * IMAGE_ALIGNMENT;
}

// A row of RGBA with `radius` edge pixels repeated on both sides.
static inline size_t line_bytes(int width, int radius)
{
    return line_align(4 * ((size_t)width + 2 * (size_t)radius));
}

// How many rows of its input a stencil sees: those that all the rows are made from that it makes at a time, and the one
// above them, which running sums need to let go of.
static inline int ring_lines(const struct stage *stencil)
{
    return 2 * stencil->arguments.radius + 2 + stencil->filter->more_rows;
}

enum { RING_LINES_MAX = 2 * FILTER_RADIUS_MAX + 1 + STENCIL_ROWS };

// All of them.
static inline size_t lines_bytes(const struct stage *stencil, int width)
{
    return line_bytes(width, stencil->arguments.radius) * (size_t)ring_lines(stencil);
}

// What a stencil's filter keeps from row to row.
static inline size_t own_bytes(const struct stage *stencil, int width)
{
    const struct filter *filter = stencil->filter;
    return line_align(filter->scratch_bytes ? filter->scratch_bytes(&stencil->arguments, width) : 0);
}

// Room for the rows that a stencil makes along with the first.
static inline size_t spare_bytes(const struct stage *stencil, int width)
{
    return line_bytes(width, 0) * (size_t)stencil->filter->more_rows;
}
