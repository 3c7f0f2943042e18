// fill.cl: a picture of one colour; arguments: red, green and blue
INLINE pixel filter_fill(pixel p, arguments args)
{
    p.r = ARG(args, 0);
    p.g = ARG(args, 1);
    p.b = ARG(args, 2);
    p.a = 255;
    return p;
}
