// load_rgba.cl: R G B A, 4 bytes a pixel
#include "pixel.cl"

INLINE pixel load(struct source source, arguments args, int x, int y)
{
    const uint word = *(__global const uint *)(source.bytes + y * source.stride0 + 4 * x);
    pixel p;
    p.r = word & 255;
    p.g = word >> 8 & 255;
    p.b = word >> 16 & 255;
    p.a = word >> 24;
    return p;
}
