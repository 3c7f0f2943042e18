// inside.cl: mixes a pixel with the kept one outside or inside a region
//
// Arguments: 1 for the outside; twice the middle of the region on both axes; on both axes the distance from it,
// doubled, where the mask becomes 0; for an ellipse 2^30 divided by these, else 0; the length of the slope and its
// factor. Lengths are in 1/16 pixel.

INLINE int inside_slope(int v, arguments args)
{
    return (clamp(v, 0, ARG(args, 7)) * ARG(args, 8) + 2097152) >> 22;
}

INLINE int inside_ellipse(int across, int down, arguments args)
{
    int u = min(across, ARG(args, 3)) * ARG(args, 5) >> 16, v = min(down, ARG(args, 4)) * ARG(args, 6) >> 16;
    return inside_slope(max(0, 268435456 - u * u - v * v) >> 8, args);
}

INLINE int inside_share(int x, int y, arguments args)
{
    int dx = 32 * x + 16 - ARG(args, 1), dy = 32 * y + 16 - ARG(args, 2);
    int across = max(dx, -dx), down = max(dy, -dy);
    int box = part255(inside_slope(ARG(args, 3) - across, args) * inside_slope(ARG(args, 4) - down, args));
    int share = ARG(args, 5) == 0 ? box : inside_ellipse(across, down, args);
    return ARG(args, 0) == 1 ? 255 - share : share;
}

INLINE pixel filter_inside(pixel p, pixel second, int x, int y, arguments args)
{
    return mixed(p, second, inside_share(x, y, args));
}
