// gray.cl: arguments: weights of red, green and blue, what is added, bits that are cut off
#include "pixel.cl"

INLINE pixel filter_gray(pixel p, arguments args)
{
    p.r = p.g = p.b = (args[0] * p.r + args[1] * p.g + args[2] * p.b + args[3]) >> args[4];
    return p;
}
