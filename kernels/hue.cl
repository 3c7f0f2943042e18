// hue.cl: rotates the hue; arguments: a 3x3 matrix row by row, with 12 fraction bits
INLINE int hue_channel(pixel p, int red, int green, int blue)
{
    return sat8((red * p.r + green * p.g + blue * p.b + 2048) >> 12);
}

INLINE pixel filter_hue(pixel p, arguments args)
{
    pixel q = p;
    q.r = hue_channel(p, ARG(args, 0), ARG(args, 1), ARG(args, 2));
    q.g = hue_channel(p, ARG(args, 3), ARG(args, 4), ARG(args, 5));
    q.b = hue_channel(p, ARG(args, 6), ARG(args, 7), ARG(args, 8));
    return q;
}
