// unweigh.cl: divides the colours by their weights; without a weight, the kept pixel; no arguments
INLINE pixel filter_unweigh(pixel p, pixel second, int x, int y, arguments args)
{
    int kept = (p.a - 1) >> 8; // -1 without a weight, else 0; compilers do not vectorise a comparison here
    p = unpremultiplied(p);    // 0 without a weight
    p.r |= second.r & kept;
    p.g |= second.g & kept;
    p.b |= second.b & kept;
    p.a = 255;
    return p;
}
