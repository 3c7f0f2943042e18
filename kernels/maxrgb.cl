// maxrgb.cl: keeps the largest channels
#include "pixel.cl"

INLINE pixel filter_maxrgb(pixel p, arguments args)
{
    const int largest = max(p.r, max(p.g, p.b));
    p.r = p.r == largest ? p.r : 0;
    p.g = p.g == largest ? p.g : 0;
    p.b = p.b == largest ? p.b : 0;
    return p;
}
