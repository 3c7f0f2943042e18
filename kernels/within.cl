// within.cl: mixes a pixel with that of an earlier filter's input; arguments: the width, the shares of p as bytes
INLINE int within_share(int x, int y, arguments args)
{
    return byte_at(args, 1, ARG(args, 0), x, y);
}

INLINE pixel filter_within(pixel p, pixel second, int x, int y, arguments args)
{
    return mixed(p, second, within_share(x, y, args));
}
