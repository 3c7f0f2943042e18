// prewitt.cl: gradient magnitude, with equal weights
INLINE int filter_prewitt(view v, arguments args)
{
    int nw = tap(v, -1, -1), n = tap(v, 0, -1), ne = tap(v, 1, -1), w = tap(v, -1, 0), e = tap(v, 1, 0);
    int sw = tap(v, -1, 1), s = tap(v, 0, 1), se = tap(v, 1, 1);
    int gx = ne - nw + e - w + se - sw, gy = sw - nw + s - n + se - ne;
    return min(255, root(gx * gx + gy * gy));
}
