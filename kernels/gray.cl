// gray.cl: grey value; argument: 0 luma, 1 average
INLINE pixel filter_gray(pixel p, arguments args)
{
    // 21846 / 65536 is a third, exact here: it is off by less than 766 / 98304.
    int y = ARG(args, 0) == 0 ? luma(p) : ((p.r + p.g + p.b + 1) * 21846) >> 16;
    p.r = y;
    p.g = y;
    p.b = y;
    return p;
}
