// convolve.cl: weighted square in fixed point; arguments: shift, offset, weights row by row
#include "pixel.cl"

pixel filter_convolve(struct view view, const int radius, arguments args)
{
    int r = args[1], g = args[1], b = args[1];
    arguments weight = args + 2;
    for (int dy = -radius; dy <= radius; dy++) {
        for (int dx = -radius; dx <= radius; dx++) {
            const pixel p = tap(view, dx, dy);
            const int w = weight[(dy + radius) * (2 * radius + 1) + dx + radius];
            r += w * p.r;
            g += w * p.g;
            b += w * p.b;
        }
    }
    pixel p = tap(view, 0, 0);
    p.r = sat8(r >> args[0]);
    p.g = sat8(g >> args[0]);
    p.b = sat8(b >> args[0]);
    return p;
}
