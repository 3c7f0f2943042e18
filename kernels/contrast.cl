// contrast.cl: looks up each channel in a table; arguments: its 256 values
INLINE pixel filter_contrast(pixel p, arguments args)
{
    p.r = ARG(args, p.r);
    p.g = ARG(args, p.g);
    p.b = ARG(args, p.b);
    return p;
}
