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
