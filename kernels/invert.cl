// invert.cl: photographic negative
INLINE pixel filter_invert(pixel p, arguments args)
{
    p.r = 255 - p.r;
    p.g = 255 - p.g;
    p.b = 255 - p.b;
    return p;
}
