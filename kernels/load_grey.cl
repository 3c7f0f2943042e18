// load_grey.cl: luma without chroma
#include "source.cl"
#include "yuv.cl"

INLINE pixel load(struct source source, arguments args, int x, int y)
{
    return yuv_pixel(args, source.bytes[y * source.stride0 + x], 128, 128);
}

INLINE void load4(struct source source, arguments args, int x, int y, pixel *p)
{
    const uint luma4 = *(__global const uint *)(source.bytes + y * source.stride0 + x);
    for (int i = 0; i < 4; i++)
        p[i] = yuv_pixel(args, luma4 >> 8 * i & 255, 128, 128);
}
