// load_planar.cl: three planes, U or V first, chroma of full or half width and height (YU12, YV12, 422P, 444P)
#include "source.cl"
#include "yuv.cl"

#ifndef U_PLANE
#define U_PLANE 1
#define SHIFT_X 1
#define SHIFT_Y 1
#endif

INLINE pixel load(struct source source, arguments args, int x, int y)
{
    const int luma8 = source.bytes[y * source.stride0 + x];
    const int cx = x >> SHIFT_X, cy = y >> SHIFT_Y;
    const int one = source.bytes[source.offset1 + cy * source.stride1 + cx];
    const int two = source.bytes[source.offset2 + cy * source.stride2 + cx];
    return U_PLANE == 1 ? yuv_pixel(args, luma8, one, two) : yuv_pixel(args, luma8, two, one);
}

// Returns the four bytes at (x, y) of a plane; for a plane of half the width, the two bytes of four pixels.
INLINE uint plane4(struct source source, int offset, int stride, int x, int y, int shift_x)
{
    __global const uchar *at = source.bytes + offset + y * stride + (x >> shift_x);
    return shift_x ? *(__global const ushort *)at : *(__global const uint *)at;
}

INLINE void load4(struct source source, arguments args, int x, int y, pixel *p)
{
    const uint luma4 = plane4(source, 0, source.stride0, x, y, 0);
    const uint one = plane4(source, source.offset1, source.stride1, x, y >> SHIFT_Y, SHIFT_X);
    const uint two = plane4(source, source.offset2, source.stride2, x, y >> SHIFT_Y, SHIFT_X);
    const uint u = U_PLANE == 1 ? one : two, v = U_PLANE == 1 ? two : one;
    for (int i = 0; i < 4; i++) {
        const int at = 8 * (i >> SHIFT_X);
        p[i] = yuv_pixel(args, luma4 >> 8 * i & 255, u >> at & 255, v >> at & 255);
    }
}
