// cpu_run.c: how many passes of the cpu path make a run, and how much scratch memory it takes
#include "path/cpu_ends.h"
#include "path/cpu_lines.h"
#include "path/cpu_rows.h"

// A stencil reaches beyond its band, so that the pass before it makes some rows in two bands. One row in so many may
// be.
enum { REPEATED_SHARE = 8 };

size_t cpu_run_scratch_bytes(const struct pass *passes, int count, int width)
{
    size_t bytes = OWN_LINES * line_bytes(width, 0) + (passes[0].stencil ? cpu_ends_bytes(passes[0].stencil) : 0);
    for (int i = 0; i < count; i++) {
        const struct stage *stencil = passes[i].stencil;
        if (stencil)
            bytes += lines_bytes(stencil, width) + spare_bytes(stencil, width) + own_bytes(stencil, width);
    }
    return bytes;
}

int cpu_run_length(const struct pass *passes, int count, int band_rows)
{
    int length = 1, reach = 0;
    for (; length < count; length++) {
        const struct pass *pass = &passes[length];
        reach += 2 * pass->stencil->arguments.radius; // all but the first pass have a stencil
        if (passes[length - 1].store_flip || pass->load_flip || reach * REPEATED_SHARE > band_rows)
            break; // rows come in order, or bands would make too many twice
    }
    return length;
}

int cpu_run_reach(const struct pass *passes, int count)
{
    int reach = 0;
    for (int i = 0; i < count; i++) {
        const struct stage *stencil = passes[i].stencil;
        reach += stencil ? stencil->arguments.radius + stencil->filter->more_rows : 0;
    }
    return reach;
}
