// load_grey.cl: luma alone
#include "yuv.cl"

pixel load(struct source source, arguments args, int x, int y)
{
    return yuv_pixel(args, source.bytes[y * source.stride[0] + x], 128, 128);
}
