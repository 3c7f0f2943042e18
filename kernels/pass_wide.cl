// pass_wide.cl: the pass of CPU devices that makes RGBA from YUV and does nothing else: a row per work-item, in vectors
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
#include "lines.cl"
#include "pass_io.cl"

enum { WIDE = 16 };

INLINE ushort16 fractions5(short16 value)
{
    return as_ushort16(min(max(value >> (short16)5, (short16)0), (short16)255));
}

// Eight pixels of their halves: red and green, blue and alpha.
INLINE uint8 join_halves(ushort8 a, ushort8 b)
{
    return as_uint8(
        (ushort16)(a.s0, b.s0, a.s1, b.s1, a.s2, b.s2, a.s3, b.s3, a.s4, b.s4, a.s5, b.s5, a.s6, b.s6, a.s7, b.s7));
}

// As in docs/pixels.md section 1: a row. Its width is even and at least WIDE; the last step begins early.
__kernel void pass_wide(__global const uchar *restrict bytes, layout layout, __global const int *restrict args,
                        __global uint *restrict to)
{
    const struct source source = source_of(bytes, layout);
    const int y = get_global_id(1), from_y = PASS_LOAD_Y(y, layout.s1);
    __global uint *row = to + PASS_STORE_Y(y, layout.s1) * layout.s7;
    const short cy = args[0], bias = args[1], rv = args[2], gu = args[3], gv = args[4], bu = args[5];
    for (int i = 0; i < layout.s0; i += WIDE) {
        const int x = min(i, layout.s0 - WIDE);
        const samples16 s = load16(source, x, from_y);
        const short16 luma = upper_halves(s.luma, cy) + bias;
        const ushort16 r = fractions5(luma + upper_halves(s.v, rv));
        const ushort16 g = fractions5(luma - (upper_halves(s.u, gu) + upper_halves(s.v, gv)));
        const ushort16 b = fractions5(luma + upper_halves(s.u, bu));
        const ushort16 rg = r | g << (ushort16)8, ba = b | (ushort16)0xff00;
        vstore8(join_halves(rg.lo, ba.lo), 0, row + x);
        vstore8(join_halves(rg.hi, ba.hi), 1, row + x);
    }
}
