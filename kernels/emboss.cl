// emboss.cl: relief; arguments: the 3x3 weights, -1, 0 or 1
#include "pixel.cl"
#include "square.cl"

// Sums lie between -765 and 765; with 128 + 1024 added they fit the half of a word, and negative weights borrow
// nothing.
#define EMBOSS_GREY 128
#define EMBOSS_SPARE 1024

INLINE pixel filter_emboss(struct view view, arguments args)
{
    uint rb = (EMBOSS_GREY + EMBOSS_SPARE) * 0x10001u, g = EMBOSS_GREY + EMBOSS_SPARE;
#define ADD(dx, dy)                                                                                                    \
    {                                                                                                                  \
        const uint w = (uint)args[3 * (dy) + (dx) + 4];                                                                \
        const pixel t = tap(view, dx, dy);                                                                             \
        rb += w * red_blue(t);                                                                                         \
        g += w * (uint)t.g;                                                                                            \
    }
    FOR_SQUARE(ADD)
#undef ADD
    pixel p = tap(view, 0, 0);
    p.r = sat8((int)(rb & 0xffff) - EMBOSS_SPARE);
    p.g = sat8((int)g - EMBOSS_SPARE);
    p.b = sat8((int)(rb >> 16) - EMBOSS_SPARE);
    return p;
}
