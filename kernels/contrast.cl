// contrast.cl: arguments: 256 values, looked up for each channel; then what gives the same: a factor, what is added, a
// shift; or a factor of 0 where nothing does
#include "table.cl"

INLINE int along_line(int value, arguments line)
{
    return sat8(((value * line[0] >> 8) + line[1]) >> line[2]);
}

INLINE pixel follow_line(pixel p, arguments line)
{
    p.r = along_line(p.r, line);
    p.g = along_line(p.g, line);
    p.b = along_line(p.b, line);
    return p;
}

INLINE pixel filter_contrast(pixel p, arguments args)
{
    if (args[256] == 0)
        return filter_table(p, args);
    return follow_line(p, args + 256);
}

#ifdef PASS_BEFORE_LINE
INLINE void line_contrast(const uint *from, uint *to, int count, arguments args)
{
    if (args[256] == 0 || VECTOR_WORDS == 16) // by which the table is as fast
        line_table(from, to, count, args);
    else
        EACH_OF_LINE(follow_line, from, to, count, args + 256)
}
#endif
