// posterize.cl: few levels for each colour
//!SUMMARY reduce each colour to a few levels
//!KIND point
//!PARAM levels
//!DESC levels of each colour
//!TYPE int
//!RANGE 2 16
//!DEFAULT 4

INLINE int posterize_channel(int value, int levels)
{
    int level = value * levels >> 8;
    return (level * 255 + (levels - 1) / 2) / (levels - 1);
}

INLINE pixel filter_posterize(pixel p, int x, int y, arguments args)
{
    int levels = ARG(args, 0);
    p.r = posterize_channel(p.r, levels);
    p.g = posterize_channel(p.g, levels);
    p.b = posterize_channel(p.b, levels);
    return p;
}
