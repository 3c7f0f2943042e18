// table.cl: arguments: 256 values, looked up for each channel (gamma)
#include "pixel.cl"

INLINE pixel filter_table(pixel p, arguments args)
{
    p.r = args[p.r];
    p.g = args[p.g];
    p.b = args[p.b];
    return p;
}
