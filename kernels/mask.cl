// mask.cl: transparency from a picture; arguments: the width, then for each pixel the factor of alpha, in 1/255
INLINE pixel filter_mask(pixel p, int x, int y, arguments args)
{
    p.a = part255(p.a * ARG(args, 1 + y * ARG(args, 0) + x));
    return p;
}
