// load_rgba.cl: R G B A, 4 bytes per pixel
#include "source.cl"

INLINE pixel load(struct source source, arguments args, int x, int y)
{
    return unpack(*(__global const uint *)(source.bytes + y * source.stride0 + 4 * x));
}

INLINE void load4(struct source source, arguments args, int x, int y, pixel *p)
{
    const uint4 words = *(__global const uint4 *)(source.bytes + y * source.stride0 + 4 * x);
    p[0] = unpack(words.x);
    p[1] = unpack(words.y);
    p[2] = unpack(words.z);
    p[3] = unpack(words.w);
}
