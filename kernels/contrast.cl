// contrast.cl: arguments: 256 values, looked up for each channel
INLINE pixel filter_contrast(pixel p, arguments args)
{
    p.r = ARG(args, p.r);
    p.g = ARG(args, p.g);
    p.b = ARG(args, p.b);
    return p;
}
