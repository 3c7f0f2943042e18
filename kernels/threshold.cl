// threshold.cl: argument: the level
#include "pixel.cl"

INLINE pixel filter_threshold(pixel p, arguments args)
{
    p.r = p.g = p.b = luma(p) >= args[0] ? 255 : 0;
    return p;
}
