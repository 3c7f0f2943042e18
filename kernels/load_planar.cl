// load_planar.cl: three planes, chroma full or halved either way, U or V first (YU12, YV12, 422P, 444P)
#include "yuv.cl"

#ifndef U_PLANE
#define U_PLANE 1
#define SHIFT_X 1
#define SHIFT_Y 1
#endif

pixel load(struct source source, arguments args, int x, int y)
{
    const int luma8 = source.bytes[y * source.stride[0] + x];
    const int cx = x >> SHIFT_X, cy = y >> SHIFT_Y;
    const int u = source.bytes[source.offset[U_PLANE] + cy * source.stride[U_PLANE] + cx];
    const int v = source.bytes[source.offset[3 - U_PLANE] + cy * source.stride[3 - U_PLANE] + cx];
    return yuv_pixel(args, luma8, u, v);
}
