// pass.cl: the template of every pass: load, point filters, at most one stencil, point filters, store
//
// The host puts the plan ahead of this file as macros (src/path/pass_text.c); the ones here make it compile alone.
#include "pixel.cl"

#ifndef PASS_BEFORE
#include "load_rgba.cl"
#define PASS_BEFORE(p, args) (p) // point filters ahead of the stencil, or all of them
#define PASS_STENCIL(view, args) tap(view, 0, 0)
#define PASS_AFTER(p, args) (p)   // point filters behind the stencil
#define PASS_LOAD_X(x, width) (x) // where the input lies that belongs to a place, mirrored or not
#define PASS_LOAD_Y(y, height) (y)
#define PASS_STORE_X(x, width) (x) // where the output goes
#define PASS_STORE_Y(y, height) (y)
#define PASS_RADIUS 0
#endif

// Macros: NVIDIA's compiler does not see an image behind a typedef.
#ifdef PASS_TO_IMAGE
#define DESTINATION write_only image2d_t
#else
#define DESTINATION __global uint *restrict
#endif

INLINE pixel tap(struct view view, int dx, int dy)
{
    const struct source source = view.source;
    int x = view.x + dx, y = view.y + dy;
    if (view.checked) {
        x = clamp(x, 0, source.width - 1);
        y = clamp(y, 0, source.height - 1);
    }
    const pixel p = load(source, view.args, PASS_LOAD_X(x, source.width), PASS_LOAD_Y(y, source.height));
    return PASS_BEFORE(p, view.args);
}

INLINE void store(DESTINATION to, int x, int y, int stride, pixel p)
{
#ifdef PASS_TO_IMAGE
    write_imagef(to, (int2)(x, y), (float4)(p.r, p.g, p.b, p.a) / 255.0f);
#else
    to[y * stride + x] = (uint)p.r | (uint)p.g << 8 | (uint)p.b << 16 | (uint)p.a << 24;
#endif
}

// The host's struct opencl_layout (src/path/opencl_path.h): width, height, strides of planes 0 to 2, offsets of planes
// 1 and 2, then pixels from row to row of the output.
typedef int8 layout;

INLINE void pass(__global const uchar *bytes, layout layout, arguments args, DESTINATION to, int x, int y,
                        int checked)
{
    struct view view;
    view.source.bytes = bytes;
    view.source.width = layout.s0;
    view.source.height = layout.s1;
    view.source.stride0 = layout.s2;
    view.source.stride1 = layout.s3;
    view.source.stride2 = layout.s4;
    view.source.offset1 = layout.s5;
    view.source.offset2 = layout.s6;
    view.args = args;
    view.x = x;
    view.y = y;
    view.checked = checked;
    const pixel p = PASS_AFTER(PASS_STENCIL(view, args), args);
    store(to, PASS_STORE_X(x, layout.s0), PASS_STORE_Y(y, layout.s1), layout.s7, p);
}

#ifdef PASS_EXACT // the device runs a work-group as a loop (src/path/opencl_launch.c)

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

#else

// Every pixel, for devices that hide the cost of a clamp. The NDRange is rounded up to whole work-groups.
__kernel void pass_all(__global const uchar *restrict bytes, layout layout, __global const int *restrict args,
                       DESTINATION to)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < layout.s0 && y < layout.s1)
        pass(bytes, layout, args, to, x, y, 1);
}

#endif
