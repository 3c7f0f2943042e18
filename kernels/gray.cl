// gray.cl: argument: 0 luma, 1 average
#include "pixel.cl"

INLINE pixel filter_gray(pixel p, arguments args)
{
    const int grey = args[0] ? (p.r + p.g + p.b + 1) / 3 : luma(p);
    p.r = p.g = p.b = grey;
    return p;
}
