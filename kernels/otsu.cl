// otsu.cl: black and white; argument: the lowest luma that becomes white, computed from a histogram (otsu_level.cl)
INLINE pixel filter_otsu(pixel p, arguments args)
{
    int y = luma(p) >= ARG(args, 0) ? 255 : 0;
    p.r = y;
    p.g = y;
    p.b = y;
    return p;
}
