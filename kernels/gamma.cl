// gamma.cl: looks up each channel in a table; arguments: its 256 values
INLINE pixel filter_gamma(pixel p, arguments args)
{
    p.r = ARG(args, p.r);
    p.g = ARG(args, p.g);
    p.b = ARG(args, p.b);
    return p;
}
