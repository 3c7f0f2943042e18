// load_channel.cl: a grey picture between two passes: one byte per pixel, which is the value of all three channels
#include "source.cl"

INLINE pixel grey_pixel(int value)
{
    pixel p;
    p.r = p.g = p.b = value;
    p.a = 255;
    return p;
}

INLINE pixel load(struct source source, arguments args, int x, int y)
{
    return grey_pixel(source.bytes[y * source.stride0 + x]);
}

INLINE void load4(struct source source, arguments args, int x, int y, pixel *p)
{
    const uint values = *(__global const uint *)(source.bytes + y * source.stride0 + x);
    for (int i = 0; i < 4; i++)
        p[i] = grey_pixel(values >> 8 * i & 255);
}
