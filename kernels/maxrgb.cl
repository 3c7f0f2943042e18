// maxrgb.cl: keeps the largest channels
INLINE pixel filter_maxrgb(pixel p, arguments args)
{
    int largest = max(p.r, max(p.g, p.b));
    p.r = p.r == largest ? p.r : 0;
    p.g = p.g == largest ? p.g : 0;
    p.b = p.b == largest ? p.b : 0;
    return p;
}
