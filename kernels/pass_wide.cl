// pass_wide.cl: the pass of CPU devices that makes RGBA from YUV or RGB and does nothing else: a row per work-item, in
// vectors
//
// Where work-items make a pixel each, compilers work in 32 bits and fetch chroma that pixels share a byte at a time.
#ifndef PASS_WIDE
#define PASS_WIDE
#define PASS_BEFORE(p, args) (p)
#define PASS_LOAD_X(x, width) (x)
#define PASS_LOAD_Y(y, height) (y)
#define PASS_STORE_X(x, width) (x)
#define PASS_STORE_Y(y, height) (y)
#include "load_grey.cl"
#endif
#include "pass_io.cl"
#include "wide.cl"

// A row. Its width is even and at least WIDE; the last step begins early.
__kernel void pass_wide(__global const uchar *restrict bytes, layout layout, __global const int *restrict args,
                        __global uint *restrict to)
{
    const struct source source = source_of(bytes, layout);
    const int y = get_global_id(1), from_y = PASS_LOAD_Y(y, layout.s1);
    __global uint *row = to + PASS_STORE_Y(y, layout.s1) * layout.s7;
    for (int i = 0; i < layout.s0; i += WIDE) {
        const int x = min(i, layout.s0 - WIDE);
        const words16 words = load_words16(source, args, x, from_y);
        vstore8(words.lower, 0, row + x);
        vstore8(words.upper, 1, row + x);
    }
}
