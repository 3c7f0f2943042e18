// within.cl: mixes a pixel with that of an earlier filter's input
//
// Arguments: 1, or 0 for a result of p; the width; for each pixel the share of p in 1/255.
INLINE int within_share(int x, int y, arguments args)
{
    return ARG(args, 0) == 0 ? 255 : ARG(args, 2 + y * ARG(args, 1) + x);
}

INLINE pixel filter_within(pixel p, pixel second, int x, int y, arguments args)
{
    return mixed(p, second, within_share(x, y, args));
}
