// wide.cl: RGBA, 16 pixels at a time, in vectors of the language; from YUV here, from RGB in load_rgb24.cl
#ifndef WIDE_CL
#define WIDE_CL
#include "vectors.cl"
#ifdef PASS_WIDE

enum { WIDE = 16 };

#ifdef YUV_CL

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

// As in docs/pixels.md section 1; x is even.
INLINE words16 load_words16(struct source source, arguments args, int x, int y)
{
    const short cy = args[0], bias = args[1], rv = args[2], gu = args[3], gv = args[4], bu = args[5];
    const samples16 s = load16(source, x, y);
    const short16 luma = upper_halves(s.luma, cy) + bias;
    const ushort16 r = fractions5(luma + upper_halves(s.v, rv));
    const ushort16 g = fractions5(luma - (upper_halves(s.u, gu) + upper_halves(s.v, gv)));
    const ushort16 b = fractions5(luma + upper_halves(s.u, bu));
    const ushort16 rg = r | g << (ushort16)8, ba = b | (ushort16)0xff00;
    words16 words;
    words.lower = join_halves(rg.lo, ba.lo);
    words.upper = join_halves(rg.hi, ba.hi);
    return words;
}

#endif
#endif
#endif
