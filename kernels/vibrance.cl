// vibrance.cl: changes the colours of pale pixels most; argument: the amount, with 8 fraction bits
INLINE pixel filter_vibrance(pixel p, arguments args)
{
    int most = max(p.r, max(p.g, p.b)), pure = most - min(p.r, min(p.g, p.b)), y = luma(p);
    int k = 256 + ((ARG(args, 0) * (256 - pure - (pure >> 7)) + 128) >> 8);
    p.r = sat8(y + ((k * (p.r - y) + 128) >> 8));
    p.g = sat8(y + ((k * (p.g - y) + 128) >> 8));
    p.b = sat8(y + ((k * (p.b - y) + 128) >> 8));
    return p;
}
