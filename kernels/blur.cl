// blur.cl: mean of a square
#include "pixel.cl"

pixel filter_blur(struct view view, const int radius, arguments args)
{
    uint r = 0, g = 0, b = 0;
    for (int dy = -radius; dy <= radius; dy++) {
        for (int dx = -radius; dx <= radius; dx++) {
            const pixel p = tap(view, dx, dy);
            r += p.r;
            g += p.g;
            b += p.b;
        }
    }
    const uint area = (2 * radius + 1) * (2 * radius + 1);
    pixel p = tap(view, 0, 0);
    p.r = (r + area / 2) / area;
    p.g = (g + area / 2) / area;
    p.b = (b + area / 2) / area;
    return p;
}
