// cpu_ends.c: the ends of rows that a stencil reads where they lie in the picture
#include "path/cpu_ends.h"

#include "path/cpu_lines.h"

#include <string.h>

// Of an end, `radius` pixels come out wrong, and these see as many more. There are two ends.
static int narrow_width(const struct stage *stencil)
{
    return 4 * stencil->arguments.radius;
}

bool cpu_ends_fit(const struct stage *stencil, int width)
{
    return width >= narrow_width(stencil);
}

size_t cpu_ends_bytes(const struct stage *stencil)
{
    const int width = narrow_width(stencil);
    return lines_bytes(stencil, width) + own_bytes(stencil, width) + line_bytes(width, 0) + spare_bytes(stencil, width);
}

void cpu_ends_begin(struct cpu_ends *ends, const struct stage *stencil, int width, uint8_t *scratch)
{
    ends->stencil = stencil;
    ends->width = width;
    ends->lines = scratch;
    ends->own = ends->lines + lines_bytes(stencil, narrow_width(stencil));
    ends->made = ends->own + own_bytes(stencil, narrow_width(stencil));
}

static uint8_t *line_at(const struct cpu_ends *ends, int place)
{
    const int radius = ends->stencil->arguments.radius;
    return ends->lines + line_bytes(narrow_width(ends->stencil), radius) * (size_t)place + 4 * radius;
}

void cpu_ends_take(const struct cpu_ends *ends, const uint8_t *row, int place)
{
    const int radius = ends->stencil->arguments.radius, half = 4 * 2 * radius;
    uint8_t *line = line_at(ends, place), *end = line + 2 * half;
    memcpy(line, row, (size_t)half);
    memcpy(line + half, row + 4 * (size_t)ends->width - half, (size_t)half);
    for (int i = 0; i < radius; i++) {
        memcpy(line - 4 * (i + 1), line, 4);
        memcpy(end + 4 * i, end - 4, 4);
    }
}

// Copies what was made of the ends to a row of output.
static void put(const struct cpu_ends *ends, const uint8_t *made, uint8_t *row)
{
    const size_t bytes = 4 * (size_t)ends->stencil->arguments.radius;
    memcpy(row, made, bytes);
    memcpy(row + 4 * (size_t)ends->width - bytes, made + 3 * bytes, bytes);
}

void cpu_ends_make(const struct cpu_ends *ends, const struct stencil_rows *rows, const int *places)
{
    const struct stage *stencil = ends->stencil;
    const int count = 1 + stencil->filter->more_rows;
    const uint8_t *in[RING_LINES_MAX];
    for (int i = 0; i < ring_lines(stencil); i++)
        in[i] = line_at(ends, places[i]);
    struct stencil_rows narrow = *rows;
    narrow.in = in + 1;
    narrow.width = narrow_width(stencil);
    narrow.scratch = ends->own;
    for (int i = 0; i < count; i++)
        narrow.out[i] = ends->made + line_bytes(narrow.width, 0) * (size_t)i;
    for (int i = 0; i < STENCIL_ROWS; i++) // its rows stay in cache
        narrow.next.in[i] = narrow.next.out[i] = ends->made;
    stencil->filter->stencil_row(&stencil->arguments, &narrow);
    for (int i = 0; i < count; i++)
        put(ends, narrow.out[i], rows->out[i]);
}
