// pass.cl: the pass that makes a pixel per work-item: of devices that run a work-group as a loop
// (src/path/opencl_launch.c)
#include "pass_io.cl"

INLINE pixel tap(struct view view, int dx, int dy)
{
    int x = view.x + dx, y = view.y + dy;
    if (view.checked) {
        x = clamp(x, 0, view.source.width - 1);
        y = clamp(y, 0, view.source.height - 1);
    }
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

// Pixels at least the radius away from every edge: no branch, no clamp, so that the compiler can vectorise over
// work-items. The NDRange is exactly the interior, by its offset.
__kernel void pass_interior(__global const uchar *restrict bytes, layout layout, __global const int *restrict args,
                            DESTINATION to)
{
    pass(bytes, layout, args, to, get_global_id(0), get_global_id(1), 0);
}

// The pixels nearer than the radius to an edge, numbered row by row: whole rows above and below, then both sides.
__kernel void pass_edges(__global const uchar *restrict bytes, layout layout, __global const int *restrict args,
                         DESTINATION to)
{
    const int width = layout.s0, height = layout.s1, radius = PASS_RADIUS;
    const int rows = min(2 * radius, height), sides = min(2 * radius, width);
    int i = get_global_id(0), x, y;
    if (i < rows * width) {
        x = i % width;
        y = i / width;
        y = y < radius || height <= 2 * radius ? y : height - rows + y;
    } else {
        i -= rows * width;
        x = i % max(sides, 1);
        x = x < radius || width <= 2 * radius ? x : width - sides + x;
        y = i / max(sides, 1) + radius;
        if (y >= height - radius)
            return;
    }
    pass(bytes, layout, args, to, x, y, 1);
}
