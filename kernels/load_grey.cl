// load_grey.cl: luma alone
#include "yuv.cl"

INLINE pixel load(struct source source, arguments args, int x, int y)
{
    return yuv_pixel(args, source.bytes[y * source.stride0 + x], 128, 128);
}
