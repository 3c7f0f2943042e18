// unpremultiply.cl: divides the colours by alpha; no arguments
INLINE pixel filter_unpremultiply(pixel p, arguments args)
{
    return unpremultiplied(p);
}
