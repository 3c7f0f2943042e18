// threshold.cl: black and white; argument: the lowest luma that becomes white
INLINE pixel filter_threshold(pixel p, arguments args)
{
    int y = luma(p) >= ARG(args, 0) ? 255 : 0;
    p.r = y;
    p.g = y;
    p.b = y;
    return p;
}
