// load_semiplanar.cl: a plane of luma and one of chroma pairs at half size, in either order (NV12, NV21)
#include "yuv.cl"

#ifndef U_BYTE
#define U_BYTE 0
#define V_BYTE 1
#endif

INLINE pixel load(struct source source, arguments args, int x, int y)
{
    const int luma8 = source.bytes[y * source.stride0 + x];
    __global const uchar *pair = source.bytes + source.offset1 + (y >> 1) * source.stride1 + (x & ~1);
    return yuv_pixel(args, luma8, pair[U_BYTE], pair[V_BYTE]);
}

INLINE void load4(struct source source, arguments args, int x, int y, pixel *p)
{
    const uint luma4 = *(__global const uint *)(source.bytes + y * source.stride0 + x);
    const uint pairs = *(__global const uint *)(source.bytes + source.offset1 + (y >> 1) * source.stride1 + x);
    for (int i = 0; i < 4; i++) {
        const uint pair = pairs >> 16 * (i / 2);
        p[i] = yuv_pixel(args, luma4 >> 8 * i & 255, pair >> 8 * U_BYTE & 255, pair >> 8 * V_BYTE & 255);
    }
}

#ifdef PASS_WIDE
INLINE samples16 load16(struct source source, int x, int y)
{
    __global const uchar *pairs = source.bytes + source.offset1 + (y >> 1) * source.stride1 + x;
    const uint8 words = convert_uint8(vload8(0, (__global const ushort *)pairs));
    samples16 s;
    s.luma = luma16(convert_ushort16(vload16(0, source.bytes + y * source.stride0 + x)));
    s.u = shared_chroma16(words << 8 * V_BYTE);
    s.v = shared_chroma16(words << 8 * U_BYTE);
    return s;
}
#endif
