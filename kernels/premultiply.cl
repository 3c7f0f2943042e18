// premultiply.cl: multiplies the colours by alpha; no arguments
INLINE pixel filter_premultiply(pixel p, arguments args)
{
    p.r = part255(p.r * p.a);
    p.g = part255(p.g * p.a);
    p.b = part255(p.b * p.a);
    return p;
}
