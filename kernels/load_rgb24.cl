// load_rgb24.cl: 3 bytes a pixel, red first or blue first
#include "pixel.cl"

#ifndef R_BYTE
#define R_BYTE 0
#define B_BYTE 2
#endif

INLINE pixel load(struct source source, arguments args, int x, int y)
{
    __global const uchar *at = source.bytes + y * source.stride0 + 3 * x;
    pixel p;
    p.r = at[R_BYTE];
    p.g = at[1];
    p.b = at[B_BYTE];
    p.a = 255;
    return p;
}

INLINE void load4(struct source source, arguments args, int x, int y, pixel *p)
{
    __global const uint *words = (__global const uint *)(source.bytes + y * source.stride0 + 3 * x);
    const uint a = words[0], b = words[1], c = words[2];
    p[0] = unpack(a | 0xff000000u);
    p[1] = unpack(a >> 24 | b << 8 | 0xff000000u);
    p[2] = unpack(b >> 16 | c << 16 | 0xff000000u);
    p[3] = unpack(c >> 8 | 0xff000000u);
    for (int i = 0; R_BYTE == 2 && i < 4; i++) {
        const int first = p[i].r;
        p[i].r = p[i].b;
        p[i].b = first;
    }
}

#ifdef PASS_WIDE

#if R_BYTE == 0
#define WORD(a, b, c) a, b, c, 255
#else
#define WORD(a, b, c) c, b, a, 255
#endif

INLINE words16 load_words16(struct source source, arguments args, int x, int y)
{
    __global const uchar *at = source.bytes + y * source.stride0 + 3 * x;
    const uchar16 a = vload16(0, at), b = vload16(0, at + 12), c = vload16(0, at + 24), d = vload16(0, at + 32);
    words16 words;
    words.lower = (uint8)(as_uint4((uchar16)(WORD(a.s0, a.s1, a.s2), WORD(a.s3, a.s4, a.s5), WORD(a.s6, a.s7, a.s8),
                                             WORD(a.s9, a.sa, a.sb))),
                          as_uint4((uchar16)(WORD(b.s0, b.s1, b.s2), WORD(b.s3, b.s4, b.s5), WORD(b.s6, b.s7, b.s8),
                                             WORD(b.s9, b.sa, b.sb))));
    words.upper = (uint8)(as_uint4((uchar16)(WORD(c.s0, c.s1, c.s2), WORD(c.s3, c.s4, c.s5), WORD(c.s6, c.s7, c.s8),
                                             WORD(c.s9, c.sa, c.sb))),
                          as_uint4((uchar16)(WORD(d.s4, d.s5, d.s6), WORD(d.s7, d.s8, d.s9), WORD(d.sa, d.sb, d.sc),
                                             WORD(d.sd, d.se, d.sf))));
    return words;
}
#endif
