// pass_lines.cl: the pass of CPU devices for filters that make whole lines: a work-item makes a part of some rows
//
// Pixels come into lines in private memory, once each, and stay there while they are in the stencil's reach. The loops
// are what compilers vectorise: within a work-item, not over work-items.
#ifndef PASS_LINES
#define PASS_LINES
#include "blur.cl"
#endif
#include "lines.cl"
#include "read_line.cl"

#ifndef PASS_AFTER_LINE
#define PASS_AFTER_LINE(from, to, count, args) // point filters behind the stencil
#endif

enum {
    LINES_RING = 2 * PASS_RADIUS + 2, // rows in reach, and the one that has left it
    // Pixels that go from input to output at a time, so that there is something to do while memory is waited for.
    LINE_PIECE = 128,
};

__kernel void pass_lines(__global const uchar *restrict bytes, layout layout, __global const int *restrict args,
                         DESTINATION to)
{
    const struct source source = source_of(bytes, layout);
    const int share = (layout.s1 - 1) / (int)get_global_size(1) + 1;
    const int x = get_global_id(0) * PASS_LINES_WIDTH, top = get_global_id(1) * share;
    const int width = min(PASS_LINES_WIDTH, layout.s0 - x), rows = min(share, layout.s1 - top);
    uint ring[LINES_RING][LINE_ROOM], piece[LINE_PIECE];
    lines_state state;
    lines_begin(&state, PASS_STENCIL_ARGUMENTS(args));
    for (int i = 0; i < LINES_RING; i++)
        for (int k = 0; k < LINE_ROOM; k++)
            ring[i][k] = 0;
    for (int i = 0; i < rows + 2 * PASS_RADIUS; i++) {
        const int y = top + i - 2 * PASS_RADIUS; // of the output; the input is as far ahead as the stencil reaches
        uint *in = ring[i % LINES_RING];
        const uint *out = ring[(i + 1) % LINES_RING];
        const uint *centre = ring[(i + PASS_RADIUS + 2) % LINES_RING] + LINE_REACH;
        for (int first = 0, there = 0; first < width; first += LINE_PIECE) {
            const int end = min(first + LINE_PIECE, width);
            const int reach = min(first + LINE_PIECE + 2 * LINE_REACH, width + LINE_REACH + PASS_RADIUS);
            if (there < reach)
                read_line(source, args, x - LINE_REACH, y + PASS_RADIUS, there, reach, in);
            there = reach;
            if (first == 0)
                lines_take(&state, i, in, out, 0, 2 * LINE_REACH);
            if (y < top) {
                lines_take(&state, i, in, out, first + 2 * LINE_REACH, end + 2 * LINE_REACH);
                continue;
            }
            uint *line = piece;
#if defined(ONE_MEMORY) && defined(PASS_STORE_WORDS)
            if ((end - first) % LINE_STEP == 0)
                line = (uint *)(uintptr_t)(to + PASS_STORE_Y(y, layout.s1) * layout.s7 + x + first);
#endif
            lines_make(&state, i, in, out, centre, first, end, line);
#ifndef PASS_TO_IMAGE
            for (int k = first; k < end; k += CACHE_LINE / sizeof(*to))
                ASK_FOR(to + PASS_STORE_Y(y + 1, layout.s1) * layout.s7 + PASS_STORE_X(x + k, layout.s0), 1);
#endif
            if (line != piece)
                continue;
            PASS_AFTER_LINE(piece, piece, end - first, args)
            for (int k = first; k < end; k++)
                store(to, layout, x + k, y, unpack(piece[k - first]));
        }
    }
}
