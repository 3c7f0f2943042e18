// pass_rows.cl: the pass of CPU devices without a stencil that converts YUV or RGB, or has filters that make lines: a
// row per work-item, filter by filter
//
// Where work-items make a pixel each, compilers work in 32 bits, and fetch one by one chroma that pixels share and what
// stands in tables.
#include "read_line.cl"

enum { ROW_PIECE = 512 }; // pixels that go from filter to filter at a time, so that they stay in cache

__kernel void pass_rows(__global const uchar *restrict bytes, layout layout, __global const int *restrict args,
                        DESTINATION to)
{
    const struct source source = source_of(bytes, layout);
    const int y = get_global_id(1);
    for (int first = 0; first < layout.s0; first += ROW_PIECE) {
        const int count = min(ROW_PIECE, layout.s0 - first);
#if defined(ONE_MEMORY) && defined(PASS_STORE_WORDS)
        uint *line = (uint *)(uintptr_t)(to + PASS_STORE_Y(y, layout.s1) * layout.s7 + first);
        read_line(source, args, first, y, y + 1, 0, count, line);
#else
        uint line[ROW_PIECE];
        read_line(source, args, first, y, y + 1, 0, count, line);
        for (int k = 0; k < count; k++)
            store(to, layout, first + k, y, unpack(line[k]));
#endif
    }
}
