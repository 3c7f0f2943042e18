// convolve.cl: weighted square in fixed point; arguments: shift, offset, weights row by row
#include "pixel.cl"
#include "square.cl"

INLINE pixel filter_convolve(struct view view, arguments args)
{
    int r = args[1], g = args[1], b = args[1];
#define ADD(dx, dy)                                                                                                    \
    {                                                                                                                  \
        const int w = args[2 + ((dy) + PASS_RADIUS) * (2 * PASS_RADIUS + 1) + (dx) + PASS_RADIUS];                     \
        const pixel t = tap(view, dx, dy);                                                                             \
        r += w * t.r;                                                                                                  \
        g += w * t.g;                                                                                                  \
        b += w * t.b;                                                                                                  \
    }
    FOR_SQUARE(ADD)
#undef ADD
    pixel p = tap(view, 0, 0);
    p.r = sat8(r >> args[0]);
    p.g = sat8(g >> args[0]);
    p.b = sat8(b >> args[0]);
    return p;
}
