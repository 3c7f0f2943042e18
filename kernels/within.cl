// within.cl: mixes a pixel with that of an earlier filter's input
//
// Arguments: 1, or 0 for a result of p; the width; for each pixel the share of p in 1/255.
INLINE pixel filter_within(pixel p, pixel second, int x, int y, arguments args)
{
    int share = ARG(args, 0) == 0 ? 255 : ARG(args, 2 + y * ARG(args, 1) + x), rest = 255 - share;
    p.r = part255(p.r * share + second.r * rest);
    p.g = part255(p.g * share + second.g * rest);
    p.b = part255(p.b * share + second.b * rest);
    p.a = part255(p.a * share + second.a * rest);
    return p;
}
