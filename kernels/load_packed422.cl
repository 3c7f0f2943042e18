// load_packed422.cl: two pixels in 4 bytes, luma first or chroma first (YUYV, UYVY)
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
