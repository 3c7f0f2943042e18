// cpu_lines.h: the lines that a band's rows are kept in
#pragma once

#include "filter/plan.h"
#include "image/image.h"

#include <stddef.h>

enum { OWN_LINES = 4 }; // a band's, besides its stencils'

static inline size_t line_align(size_t bytes)
{
    return (bytes + IMAGE_ALIGNMENT - 1) / IMAGE_ALIGNMENT * IMAGE_ALIGNMENT;
}

static inline size_t line_bytes(int width, int radius)
{
    return line_align(4 * ((size_t)width + 2 * (size_t)radius));
}

// A stencil's lines: those in reach, of two rows where it makes two, and the one that just left.
static inline int ring_lines(const struct stage *stencil)
{
    return 2 * stencil->arguments.radius + 2 + stencil->filter->two_rows;
}

static inline size_t lines_bytes(const struct stage *stencil, int width)
{
    return line_bytes(width, stencil->arguments.radius) * (size_t)ring_lines(stencil);
}

static inline size_t own_bytes(const struct stage *stencil, int width)
{
    const struct filter *filter = stencil->filter;
    return line_align(filter->scratch_bytes ? filter->scratch_bytes(&stencil->arguments, width) : 0);
}

// Of the second row of a stencil that makes two, where nothing else holds it.
static inline size_t spare_bytes(const struct stage *stencil, int width)
{
    return stencil->filter->two_rows ? line_bytes(width, 0) : 0;
}
