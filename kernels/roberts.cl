// roberts.cl: gradient magnitude of four pixels (Roberts cross)
INLINE int filter_roberts(view v, arguments args)
{
    int gx = tap(v, -1, -1) - tap(v, 0, 0), gy = tap(v, 0, -1) - tap(v, -1, 0);
    return min(255, root(gx * gx + gy * gy));
}
