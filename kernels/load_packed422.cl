// load_packed422.cl: two pixels in 4 bytes, luma first or chroma first (YUYV, UYVY)
#include "source.cl"
#include "yuv.cl"

#ifndef Y_BYTE
#define Y_BYTE 0
#define U_BYTE 1
#endif

INLINE pixel load(struct source source, arguments args, int x, int y)
{
    __global const uchar *row = source.bytes + y * source.stride0;
    __global const uchar *chroma = row + 2 * (x & ~1) + U_BYTE;
    return yuv_pixel(args, row[2 * x + Y_BYTE], chroma[0], chroma[2]);
}

INLINE void load4(struct source source, arguments args, int x, int y, pixel *p)
{
    const uint2 words = *(__global const uint2 *)(source.bytes + y * source.stride0 + 2 * x);
    for (int i = 0; i < 4; i++) {
        const uint word = i < 2 ? words.x : words.y;
        p[i] = yuv_pixel(args, word >> 8 * (2 * (i % 2) + Y_BYTE) & 255, word >> 8 * U_BYTE & 255,
                         word >> 8 * (U_BYTE + 2) & 255);
    }
}
