// load_planar.cl: three planes, chroma full or halved either way, U or V first (YU12, YV12, 422P, 444P)
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
