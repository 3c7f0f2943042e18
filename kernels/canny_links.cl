// canny_links.cl: weak edges of the filter canny become strong if a strong one is one or two steps away
//
// Argument: 1 if other weak edges vanish.

// Returns 1 if a strong edge is beside (x, y).
INLINE int canny_beside(view v, int x, int y)
{
    int most = 0;
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++)
            most = max(most, tap(v, x + dx, y + dy));
    }
    return most == 255 ? 1 : 0;
}

INLINE int filter_canny_links(view v, arguments args)
{
    int c = tap(v, 0, 0);
    if (c != 128)
        return c;
    for (int y = -1; y <= 1; y++) {
        for (int x = -1; x <= 1; x++) {
            if (tap(v, x, y) == 128 && canny_beside(v, x, y) == 1)
                return 255;
        }
    }
    return ARG(args, 0) == 1 ? 0 : 128;
}
