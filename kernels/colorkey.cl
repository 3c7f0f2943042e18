// colorkey.cl: a colour becomes transparent; arguments: the colour, then for each distance from
// it the factor of alpha, in 1/255
INLINE pixel filter_colorkey(pixel p, arguments args)
{
    int r = p.r - ARG(args, 0), g = p.g - ARG(args, 1), b = p.b - ARG(args, 2);
    p.a = part255(p.a * ARG(args, 3 + root((r * r + g * g + b * b + 1) / 3)));
    return p;
}
