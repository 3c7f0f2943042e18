// load_rgb24.cl: 3 bytes per pixel, red first or blue first
#include "source.cl"

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
