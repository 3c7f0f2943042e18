// load_semiplanar.cl: a plane of luma and a plane of chroma pairs, U or V first (NV12, NV21, NV16, NV61)
#include "source.cl"
#include "yuv.cl"

#ifndef U_BYTE
#define U_BYTE 0
#define V_BYTE 1
#define SHIFT_Y 1
#endif

INLINE pixel load(struct source source, arguments args, int x, int y)
{
    const int luma8 = source.bytes[y * source.stride0 + x];
    __global const uchar *pair = source.bytes + source.offset1 + (y >> SHIFT_Y) * source.stride1 + (x & ~1);
    return yuv_pixel(args, luma8, pair[U_BYTE], pair[V_BYTE]);
}

INLINE void load4(struct source source, arguments args, int x, int y, pixel *p)
{
    const uint luma4 = *(__global const uint *)(source.bytes + y * source.stride0 + x);
    const uint pairs = *(__global const uint *)(source.bytes + source.offset1 + (y >> SHIFT_Y) * source.stride1 + x);
    for (int i = 0; i < 4; i++) {
        const uint pair = pairs >> 16 * (i / 2);
        p[i] = yuv_pixel(args, luma4 >> 8 * i & 255, pair >> 8 * U_BYTE & 255, pair >> 8 * V_BYTE & 255);
    }
}
