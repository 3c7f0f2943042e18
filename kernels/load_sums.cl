// load_sums.cl: a separable stencil's sums along rows, 16 bits a channel, and alpha as it was: between two passes. Two
// planes, red and blue above green and alpha, so that work-items side by side find theirs side by side.
#include "pixel.cl"

INLINE pixel load(struct source source, arguments args, int x, int y)
{
    __global const uint *red_blue = (__global const uint *)(source.bytes + y * source.stride0);
    __global const uint *green_alpha = (__global const uint *)(source.bytes + (y + source.height) * source.stride0);
    pixel p;
    p.r = red_blue[x] & 0xffff;
    p.g = green_alpha[x] & 0xffff;
    p.b = red_blue[x] >> 16;
    p.a = green_alpha[x] >> 16;
    return p;
}
