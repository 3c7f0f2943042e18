// blur.cl: mean of a square
#include "pixel.cl"
#include "square.cl"

INLINE pixel filter_blur(struct view view, arguments args)
{
    const int area = (2 * PASS_RADIUS + 1) * (2 * PASS_RADIUS + 1);
    int r = area / 2, g = area / 2, b = area / 2;
#define ADD(dx, dy)                                                                                                    \
    {                                                                                                                  \
        const pixel t = tap(view, dx, dy);                                                                             \
        r += t.r;                                                                                                      \
        g += t.g;                                                                                                      \
        b += t.b;                                                                                                      \
    }
    FOR_SQUARE(ADD)
#undef ADD
    pixel p = tap(view, 0, 0);
    p.r = r / area;
    p.g = g / area;
    p.b = b / area;
    return p;
}
