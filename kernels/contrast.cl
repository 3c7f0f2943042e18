// contrast.cl: arguments: 256 values, looked up for each channel; then what gives the same: a factor, what is added, a
// shift; or a factor of 0 where nothing does
#include "table.cl"

INLINE int along_line(int value, arguments line)
{
    return sat8(((value * line[0] >> 8) + line[1]) >> line[2]);
}

INLINE pixel filter_contrast(pixel p, arguments args)
{
    arguments line = args + 256;
    if (line[0] == 0)
        return filter_table(p, args);
    p.r = along_line(p.r, line);
    p.g = along_line(p.g, line);
    p.b = along_line(p.b, line);
    return p;
}
