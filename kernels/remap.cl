// remap.cl: paints the pixels whose places are outside the image
//
// Arguments: red, green and blue of the colour; the width; then numbers with 32 bits, one bit per pixel (1: outside).
INLINE pixel filter_remap(pixel p, int x, int y, arguments args)
{
    int at = y * ARG(args, 3) + x, outside = ARG(args, 4 + (at >> 5)) >> (at & 31) & 1;
    p.r = outside == 1 ? ARG(args, 0) : p.r;
    p.g = outside == 1 ? ARG(args, 1) : p.g;
    p.b = outside == 1 ? ARG(args, 2) : p.b;
    p.a = outside == 1 ? 255 : p.a;
    return p;
}
