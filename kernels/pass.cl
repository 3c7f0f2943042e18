// pass.cl: the generic pass: one pixel per work-item
#include "pass_io.cl"

#ifdef PASS_STENCIL

typedef struct {
    struct source source;
    arguments args; // of the whole pass
    int x, y, channel;
    int inside; // 1 if all columns of the square lie inside the picture
} view;

INLINE int tap(view v, int dx, int dy)
{
    const int x = v.inside ? v.x + dx : clamp(v.x + dx, 0, v.source.width - 1);
    const int y = clamp(v.y + dy, 0, v.source.height - 1);
    const pixel p = input(v.source, v.args, x, y);
    return v.channel == 0 ? p.r : v.channel == 1 ? p.g : p.b;
}

INLINE int PASS_STENCIL(view v, arguments args);

INLINE int filtered(view v, int channel)
{
    v.channel = channel;
    return PASS_STENCIL(v, v.args + PASS_STENCIL_AT);
}

#endif

// Makes one pixel. `inside` (see view) is a literal, so that compilers remove the clamps of columns.
INLINE void pass_at(__global const uchar *bytes, layout layout, arguments args, DESTINATION to, int x, int y,
                    int inside)
{
    const struct source source = source_of(bytes, layout);
    pixel p = input(source, args, x, y);
#ifdef PASS_STENCIL
    view v;
    v.source = source;
    v.args = args;
    v.x = x;
    v.y = y;
    v.inside = inside;
    p.r = filtered(v, 0);
#ifdef PASS_EQUAL_CHANNELS
    p.g = p.b = p.r;
#else
    p.g = filtered(v, 1);
    p.b = filtered(v, 2);
#endif
#endif
    store(to, layout, x, y, PASS_AFTER(p, args));
}

__kernel void pass(__global const uchar *restrict bytes, layout layout, __global const int *restrict args,
                   DESTINATION to)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < layout.s0 && y < layout.s1) // the NDRange is rounded up to whole work-groups
        pass_at(bytes, layout, args, to, x, y, 0);
}
