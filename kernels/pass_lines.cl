// pass_lines.cl: the pass of CPU devices for filters that make whole lines: a work-item makes a part of some rows
//
// Pixels come into lines in private memory, once each, and stay there while they are in the stencil's reach. The loops
// are what compilers vectorise: within a work-item, not over work-items.
#ifndef PASS_LINES
#define PASS_LINES
#include "blur.cl"
#endif
#include "lines.cl"
#include "pass_io.cl"
#include "wide.cl"

enum {
    LINES_RING = 2 * PASS_RADIUS + 2, // rows in reach, and the one that has left it
    // Pixels that go from input to output at a time, so that there is something to do while memory is waited for.
    LINE_PIECE = 128,
    CACHE_LINE = 64, // bytes
};

// Pixels `first` to `end` - 1 of a line that begins at (left, y); the picture's edge repeats. `left` and `first` are
// multiples of LINE_STEP.
INLINE void read_line(struct source source, arguments args, int left, int y, int first, int end, uint *line)
{
    const int begin = max(first, -left), stop = min(end, source.width - left);
    y = clamp(y, 0, source.height - 1);
#ifdef LOAD_BYTES // the row below as well, which processors do not see coming
    __global const uchar *below = source.bytes + PASS_LOAD_Y(y + 1, source.height) * source.stride0;
    for (int i = begin; i < stop; i += CACHE_LINE / LOAD_BYTES)
        ASK_FOR(below + PASS_LOAD_X(left + i, source.width) * LOAD_BYTES, 0);
#endif
    int i = begin;
#if defined(LOAD_BYTES) && !defined(PASS_LOAD_MIRROR) // words as they lie in memory
    __global const uint *row = (__global const uint *)(source.bytes + PASS_LOAD_Y(y, source.height) * source.stride0);
    for (; i <= stop - VECTOR_WORDS; i += VECTOR_WORDS)
        PUT_WORDS(*(__global const word_vector_anywhere *)(row + left + i), line + i);
    for (int k = begin; k < i; k++)
        line[k] = pack(PASS_BEFORE(unpack(line[k]), args));
#endif
#ifdef PASS_WIDE
    for (; i <= stop - WIDE; i += WIDE) {
        const words16 words = load_words16(source, args, left + i, PASS_LOAD_Y(y, source.height));
        vstore8(words.lower, 0, line + i);
        vstore8(words.upper, 1, line + i);
        for (int k = i; k < i + WIDE; k++)
            line[k] = pack(PASS_BEFORE(unpack(line[k]), args));
    }
#endif
    for (; i < stop; i++)
        line[i] = pack(input(source, args, left + i, y));
    for (i = first; i < begin; i++)
        line[i] = line[begin];
    for (i = max(first, stop); i < end; i++)
        line[i] = line[source.width - left - 1];
}

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
#if defined(__AVX2__) && defined(PASS_STORE_WORDS) // a processor: it has one memory, whatever the language calls it
            if ((end - first) % LINE_STEP == 0)
                line = (uint *)(uintptr_t)(to + PASS_STORE_Y(y, layout.s1) * layout.s7 + x + first);
#endif
            lines_make(&state, i, in, out, centre, first, end, line);
#ifndef PASS_TO_IMAGE
            for (int k = first; k < end; k += CACHE_LINE / sizeof(*to))
                ASK_FOR(to + PASS_STORE_Y(y + 1, layout.s1) * layout.s7 + PASS_STORE_X(x + k, layout.s0), 1);
#endif
            for (int k = first; line == piece && k < end; k++)
                store(to, layout, x + k, y, PASS_AFTER(unpack(line[k - first]), args));
        }
    }
}
