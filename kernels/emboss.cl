// emboss.cl: relief; arguments: the 3x3 weights, -1, 0 or 1
#include "pixel.cl"
#include "square.cl"

INLINE pixel filter_emboss(struct view view, arguments args)
{
    int r = 128, g = 128, b = 128;
#define ADD(dx, dy)                                                                                                    \
    {                                                                                                                  \
        const int w = args[3 * (dy) + (dx) + 4];                                                                       \
        const pixel t = tap(view, dx, dy);                                                                             \
        r += w * t.r;                                                                                                  \
        g += w * t.g;                                                                                                  \
        b += w * t.b;                                                                                                  \
    }
    FOR_SQUARE(ADD)
#undef ADD
    pixel p = tap(view, 0, 0);
    p.r = sat8(r);
    p.g = sat8(g);
    p.b = sat8(b);
    return p;
}
