// sobel.cl: gradient magnitude
#include "pixel.cl"

// Nearest integer to the root. Up to 255 a root is at least 4.9e-4 away from every half, and sqrt within 4 ulp (the
// most OpenCL allows) is off by 1.3e-4 at most, so that every device gives the same.
INLINE int gradient(int gx, int gy)
{
    return min(255, (int)(sqrt((float)(gx * gx + gy * gy)) + 0.5f));
}

INLINE pixel filter_sobel(struct view view, arguments args)
{
    const pixel nw = tap(view, -1, -1), n = tap(view, 0, -1), ne = tap(view, 1, -1);
    const pixel w = tap(view, -1, 0), e = tap(view, 1, 0);
    const pixel sw = tap(view, -1, 1), s = tap(view, 0, 1), se = tap(view, 1, 1);
    pixel p = tap(view, 0, 0);
    p.r = gradient(ne.r - nw.r + 2 * (e.r - w.r) + se.r - sw.r, sw.r - nw.r + 2 * (s.r - n.r) + se.r - ne.r);
    p.g = gradient(ne.g - nw.g + 2 * (e.g - w.g) + se.g - sw.g, sw.g - nw.g + 2 * (s.g - n.g) + se.g - ne.g);
    p.b = gradient(ne.b - nw.b + 2 * (e.b - w.b) + se.b - sw.b, sw.b - nw.b + 2 * (s.b - n.b) + se.b - ne.b);
    return p;
}
