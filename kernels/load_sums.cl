// load_sums.cl: a separable stencil's sums along rows, 16 bits a channel, and alpha as it was: between two passes
#include "pixel.cl"

INLINE pixel load(struct source source, arguments args, int x, int y)
{
    const uint2 sums = *(__global const uint2 *)(source.bytes + y * source.stride0 + 8 * x);
    pixel p;
    p.r = sums.x & 0xffff;
    p.g = sums.y & 0xffff;
    p.b = sums.x >> 16;
    p.a = sums.y >> 16;
    return p;
}
