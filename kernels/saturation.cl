// saturation.cl: moves colours away from their luma; argument: the amount, with 8 fraction bits
INLINE int saturation_channel(int c, int y, int amount)
{
    return sat8(y + ((amount * (c - y) + 128) >> 8));
}

INLINE pixel filter_saturation(pixel p, arguments args)
{
    int y = luma(p);
    p.r = saturation_channel(p.r, y, ARG(args, 0));
    p.g = saturation_channel(p.g, y, ARG(args, 0));
    p.b = saturation_channel(p.b, y, ARG(args, 0));
    return p;
}
