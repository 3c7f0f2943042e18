// vignette.cl: darkens the corners
//
// Arguments: the strength, the square of the distance at which it begins, then the width, the height, and the distances
// of a pixel on both axes.
INLINE pixel filter_vignette(pixel p, int x, int y, arguments args)
{
    int dx = 2 * x + 1 - ARG(args, 2), dy = 2 * y + 1 - ARG(args, 3);
    int m = max(dx, -dx) * ARG(args, 4) >> 16, n = max(dy, -dy) * ARG(args, 5) >> 16; // 0 to 4096
    int beyond = max(0, ((m * m + n * n) >> 9) - ARG(args, 1));
    int light = 65536 - ((beyond >> 1) * ARG(args, 0) >> 14);
    p.r = sat8((p.r * light + 32768) >> 16);
    p.g = sat8((p.g * light + 32768) >> 16);
    p.b = sat8((p.b * light + 32768) >> 16);
    return p;
}
