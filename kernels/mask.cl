// mask.cl: transparency from a picture; arguments: the width, the factors of alpha, in 1/255, as bytes
INLINE pixel filter_mask(pixel p, int x, int y, arguments args)
{
    p.a = part255(p.a * byte_at(args, 1, ARG(args, 0), x, y));
    return p;
}
