// emboss.cl: relief; arguments: the 3x3 weights, -1, 0 or 1
#include "pixel.cl"

pixel filter_emboss(struct view view, const int radius, arguments args)
{
    int r = 128, g = 128, b = 128;
    for (int dy = -1; dy <= 1; dy++) {
        for (int dx = -1; dx <= 1; dx++) {
            const pixel p = tap(view, dx, dy);
            const int w = args[3 * dy + dx + 4];
            r += w * p.r;
            g += w * p.g;
            b += w * p.b;
        }
    }
    pixel p = tap(view, 0, 0);
    p.r = sat8(r);
    p.g = sat8(g);
    p.b = sat8(b);
    return p;
}
