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
    LINES_AHEAD = (2 * PASS_RADIUS + LINES_TOGETHER - 1) / LINES_TOGETHER * LINES_TOGETHER, // rows until some are made
    // Pixels that go from input to output at a time, so that there is something to do while memory is waited for.
    LINE_PIECE = 128,
};

// Whether the piece of a row that begins in column x can be read where it lies, with its surroundings; and where such a
// row's column x is.
INLINE bool lines_lie(struct source source, int x)
{
#if defined(ONE_MEMORY) && defined(PASS_LOAD_WORDS)
    return x >= LINE_REACH && x + LINE_PIECE + LINE_REACH <= source.width;
#else
    return false;
#endif
}

INLINE uint *lines_row(struct source source, int x, int y)
{
    y = PASS_LOAD_Y(clamp(y, 0, source.height - 1), source.height);
    return (uint *)(uintptr_t)(source.bytes + y * source.stride0) + x;
}

// Where row y of a piece is made: in its place, if that can be, or in private memory.
INLINE uint *lines_place(DESTINATION to, layout layout, int x, int y, int count, uint *piece)
{
#if defined(ONE_MEMORY) && defined(PASS_STORE_WORDS)
    if (count % LINE_STEP == 0)
        return (uint *)(uintptr_t)(to + PASS_STORE_Y(y, layout.s1) * layout.s7 + x);
#endif
    return piece;
}

INLINE void ask_for_place(DESTINATION to, layout layout, int x, int y, int count)
{
#ifndef PASS_TO_IMAGE
    for (int k = 0; k < count; k += CACHE_LINE / sizeof(*to))
        ASK_FOR(to + PASS_STORE_Y(y, layout.s1) * layout.s7 + PASS_STORE_X(x + k, layout.s0), 1);
#endif
}

// From private memory, through the filters behind the stencil.
INLINE void lines_store(DESTINATION to, layout layout, arguments args, int x, int y, int count, uint *piece)
{
    PASS_AFTER_LINE(piece, piece, count, args)
    for (int k = 0; k < count; k++)
        store(to, layout, x + k, y, unpack(piece[k]));
}

__kernel void pass_lines(__global const uchar *restrict bytes, layout layout, __global const int *restrict args,
                         DESTINATION to)
{
    const struct source source = source_of(bytes, layout);
    const int share = (layout.s1 - 1) / (int)get_global_size(1) + 1;
    const int x = get_global_id(0) * PASS_LINES_WIDTH, top = get_global_id(1) * share;
    const int width = min(PASS_LINES_WIDTH, layout.s0 - x), bottom = min(top + share, layout.s1);
    uint ring[LINES_RING][LINE_ROOM], piece[LINES_TOGETHER][LINE_PIECE];
    lines_state state;
    lines_begin(&state, PASS_STENCIL_ARGUMENTS(args));
    for (int i = 0; i < LINES_RING; i++)
        for (int k = 0; k < LINE_ROOM; k++)
            ring[i][k] = 0;
    for (int y = top - LINES_AHEAD, come = 0; y < bottom; y += LINES_TOGETHER, come += LINES_TOGETHER) {
        for (int first = 0, there = 0; first < width; first += LINE_PIECE) {
            const int end = min(first + LINE_PIECE, width);
            const int reach = min(first + LINE_PIECE + 2 * LINE_REACH, width + LINE_REACH + PASS_RADIUS);
            lines_rows rows;
#pragma unroll
            for (int i = 0; i < LINES_RING; i++)
                rows.row[i] = ring[(come + i) % LINES_RING];
            if (lines_lie(source, x + first)) {
#pragma unroll
                for (int i = 0; i < LINES_RING; i++)
                    if (come + i >= LINES_NEW)
                        rows.row[i] = lines_row(source, x - LINE_REACH, y + i - 1 - PASS_RADIUS);
                for (int i = 0; i < LINES_TOGETHER; i++)
                    ask_for_row(source, y + i + PASS_RADIUS + LINES_TOGETHER, x + first + LINE_REACH,
                                x + end + LINE_REACH);
            } else {
                for (int i = 0; there < reach && i < LINES_TOGETHER; i++)
                    read_line(source, args, x - LINE_REACH, y + i + PASS_RADIUS, y + i + PASS_RADIUS + LINES_TOGETHER,
                              max(there, first), reach, rows.row[LINES_NEW + i]);
                there = reach;
            }
            if (first == 0)
                lines_take(&state, &rows, 0, 2 * LINE_REACH);
            if (y < top) {
                lines_take(&state, &rows, first + 2 * LINE_REACH, end + 2 * LINE_REACH);
                continue;
            }
            for (int i = 0; i < LINES_TOGETHER; i++)
                rows.to[i] =
                    y + i < bottom ? lines_place(to, layout, x + first, y + i, end - first, piece[i]) : piece[i];
            lines_make(&state, &rows, first, end);
            for (int i = 0; i < LINES_TOGETHER && y + i < bottom; i++) {
                ask_for_place(to, layout, x + first, y + i + LINES_TOGETHER, end - first);
                if (rows.to[i] == piece[i])
                    lines_store(to, layout, args, x + first, y + i, end - first, piece[i]);
            }
        }
    }
}
