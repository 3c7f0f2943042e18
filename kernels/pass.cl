// pass.cl: the pass that makes a pixel per work-item: of devices that run a work-group as a loop
// (src/path/opencl_launch.c)
#include "pass_io.cl"

INLINE pixel tap(struct view view, int dx, int dy)
{
    int x = view.x + dx, y = view.y + dy;
    if (dy < 0) // which is known. Two clamps alike some compilers would pair, and then not vectorise the rest
        y = max(y, 0);
    else if (dy > 0)
        y = min(y, view.source.height - 1);
    if (view.checked)
        x = clamp(x, 0, view.source.width - 1);
    return seen(input(view.source, view.args, x, y));
}

INLINE void pass(__global const uchar *bytes, layout layout, arguments args, DESTINATION to, int x, int y, int checked)
{
    struct view view;
    view.source = source_of(bytes, layout);
    view.args = args;
    view.x = x;
    view.y = y;
    view.checked = checked;
    store(to, layout, x, y, PASS_AFTER(PASS_STENCIL(view, args), args));
}

// Pixels at least the radius away from both sides: no branch and no clamp but the row's, so that the compiler can
// vectorise over work-items, which a work-group has of one row. The NDRange is exactly the interior, by its offset.
__kernel void pass_interior(__global const uchar *restrict bytes, layout layout, __global const int *restrict args,
                            DESTINATION to)
{
    pass(bytes, layout, args, to, get_global_id(0), get_global_id(1), 0);
}

// The pixels nearer than the radius to a side: the columns on the left, then those on the right.
__kernel void pass_edges(__global const uchar *restrict bytes, layout layout, __global const int *restrict args,
                         DESTINATION to)
{
    const int width = layout.s0, column = get_global_id(0), y = get_global_id(1);
    const int x = column < PASS_RADIUS || width <= 2 * PASS_RADIUS ? column : width - 2 * PASS_RADIUS + column;
    if (y < layout.s1)
        pass(bytes, layout, args, to, x, y, 1);
}
