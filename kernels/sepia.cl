// sepia.cl: the sepia matrix in 7 bits of fraction
#include "pixel.cl"

INLINE pixel filter_sepia(pixel p, arguments args)
{
    const int r = p.r, g = p.g, b = p.b;
    p.r = sat8((50 * r + 98 * g + 24 * b + 64) >> 7);
    p.g = sat8((45 * r + 88 * g + 22 * b + 64) >> 7);
    p.b = sat8((35 * r + 68 * g + 17 * b + 64) >> 7);
    return p;
}
