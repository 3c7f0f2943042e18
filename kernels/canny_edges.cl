// canny_edges.cl: the thin edges of the filter canny: 255 strong, 128 weak, 0 none
//
// Arguments: the strength that a weak edge exceeds, and that of a strong one.
STRUCT(canny_gradient)
struct canny_gradient {
    int x, y;
};

INLINE canny_gradient canny_gradient_at(view v, int x, int y)
{
    int nw = tap(v, x - 1, y - 1), ne = tap(v, x + 1, y - 1), sw = tap(v, x - 1, y + 1), se = tap(v, x + 1, y + 1);
    canny_gradient g;
    g.x = ne + 2 * tap(v, x + 1, y) + se - nw - 2 * tap(v, x - 1, y) - sw;
    g.y = sw + 2 * tap(v, x, y + 1) + se - nw - 2 * tap(v, x, y - 1) - ne;
    return g;
}

INLINE int canny_strength(canny_gradient g)
{
    return max(g.x, -g.x) + max(g.y, -g.y);
}

INLINE int filter_canny_edges(view v, arguments args)
{
    canny_gradient g = canny_gradient_at(v, 0, 0);
    int strength = canny_strength(g), across = max(g.x, -g.x), down = max(g.y, -g.y), x = 1, y = 0;
    if (strength <= ARG(args, 0))
        return 0;
    if (29 * across <= 12 * down) { // 12/29 is the tangent of 22.5 degrees
        x = 0;
        y = 1;
    } else if (29 * down > 12 * across) {
        y = (g.x < 0) == (g.y < 0) ? 1 : -1;
    }
    if (strength <= canny_strength(canny_gradient_at(v, -x, -y)) ||
        strength < canny_strength(canny_gradient_at(v, x, y)))
        return 0;
    return strength > ARG(args, 1) ? 255 : 128;
}
