// scharr.cl: gradient magnitude, nearly equal in all directions
INLINE int filter_scharr(view v, arguments args)
{
    int nw = tap(v, -1, -1), n = tap(v, 0, -1), ne = tap(v, 1, -1), w = tap(v, -1, 0), e = tap(v, 1, 0);
    int sw = tap(v, -1, 1), s = tap(v, 0, 1), se = tap(v, 1, 1);
    int gx = 3 * (ne - nw + se - sw) + 10 * (e - w), gy = 3 * (sw - nw + se - ne) + 10 * (s - n);
    return min(255, root((gx * gx + gy * gy + 8) >> 4));
}
