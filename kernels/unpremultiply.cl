// unpremultiply.cl: divides the colours by alpha; without alpha there is no colour; no arguments
INLINE pixel filter_unpremultiply(pixel p, arguments args)
{
    int a = max(p.a, 1), most = p.a == 0 ? 0 : 255;
    p.r = min(most, quotient(255 * p.r + a / 2, a));
    p.g = min(most, quotient(255 * p.g + a / 2, a));
    p.b = min(most, quotient(255 * p.b + a / 2, a));
    return p;
}
