// premultiply.cl: multiplies the colours by alpha; no arguments
INLINE pixel filter_premultiply(pixel p, arguments args)
{
    return premultiplied(p);
}
