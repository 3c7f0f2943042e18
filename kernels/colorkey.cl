// colorkey.cl: a colour becomes transparent
//
// Arguments: the colour; the choice of the parameter `by`; the factor of alpha for each distance from the colour, in
// 1/255.
INLINE pixel filter_colorkey(pixel p, arguments args)
{
    int r = p.r - ARG(args, 0), g = p.g - ARG(args, 1), b = p.b - ARG(args, 2);
    int u = (128 * b - 43 * r - 85 * g + 128) >> 8, v = (128 * r - 107 * g - 21 * b + 128) >> 8;
    int l = (77 * r + 150 * g + 29 * b + 128) >> 8;
    int squares = ARG(args, 3) == 2   ? l * l
                  : ARG(args, 3) == 1 ? (u * u + v * v + 1) / 2
                                      : (r * r + g * g + b * b + 1) / 3;
    p.a = part255(p.a * ARG(args, 4 + root(squares)));
    return p;
}
