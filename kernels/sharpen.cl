// sharpen.cl: argument: amount in 8 bits of fraction
#include "pixel.cl"

INLINE int push(int centre, int neighbours, int amount)
{
    return sat8(centre + ((amount * (4 * centre - neighbours) + 128) >> 8));
}

INLINE pixel filter_sharpen(struct view view, arguments args)
{
    const pixel n = tap(view, 0, -1), e = tap(view, 1, 0), s = tap(view, 0, 1), w = tap(view, -1, 0);
    pixel p = tap(view, 0, 0);
    p.r = push(p.r, n.r + e.r + s.r + w.r, args[0]);
    p.g = push(p.g, n.g + e.g + s.g + w.g, args[0]);
    p.b = push(p.b, n.b + e.b + s.b + w.b, args[0]);
    return p;
}
