// pass.cl: the template of every pass: load, point filters, at most one stencil, point filters, store
//
// The host puts the plan ahead of this file as macros (src/path/pass_text.c); the ones here make it compile alone.
#include "pixel.cl"

#ifndef PASS_BEFORE
#include "load_rgba.cl"
#define PASS_BEFORE(p, args) (p)            // point filters ahead of the stencil, or all of them
#define PASS_STENCIL(view, args) tap(view, 0, 0)
#define PASS_AFTER(p, args) (p)             // point filters behind the stencil
#define PASS_LOAD_X(x, width) (x)           // where the input lies that belongs to a place, mirrored or not
#define PASS_LOAD_Y(y, height) (y)
#define PASS_STORE_X(x, width) (x)          // where the output goes
#define PASS_STORE_Y(y, height) (y)
#define PASS_RADIUS 0
#endif

#ifdef PASS_TO_IMAGE
typedef write_only image2d_t destination;
#else
typedef __global uint *restrict destination;
#endif

// Where the input's planes lie, in bytes, and how long a row of the output is, in pixels. 32-bit members only: the host
// writes the same struct (src/path/opencl_path.h).
struct layout {
    int width, height;
    int stride[3];
    int offset[3];
    int to_stride;
};

pixel tap(struct view view, int dx, int dy)
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

static void store(destination to, int x, int y, int stride, pixel p)
{
#ifdef PASS_TO_IMAGE
    write_imagef(to, (int2)(x, y), (float4)(p.r, p.g, p.b, p.a) / 255.0f);
#else
    to[y * stride + x] = (uint)p.r | (uint)p.g << 8 | (uint)p.b << 16 | (uint)p.a << 24;
#endif
}

static void pass(__global const uchar *bytes, struct layout layout, arguments args, destination to, int x, int y,
                 int checked)
{
    struct view view;
    view.source.bytes = bytes;
    view.source.width = layout.width;
    view.source.height = layout.height;
    for (int i = 0; i < 3; i++) {
        view.source.stride[i] = layout.stride[i];
        view.source.offset[i] = layout.offset[i];
    }
    view.args = args;
    view.x = x;
    view.y = y;
    view.checked = checked;
    const pixel p = PASS_AFTER(PASS_STENCIL(view, args), args);
    store(to, PASS_STORE_X(x, layout.width), PASS_STORE_Y(y, layout.height), layout.to_stride, p);
}

// Pixels at least the radius away from every edge: no branch, no clamp, so that the compiler can vectorise over
// work-items. The NDRange is exactly the interior, by its offset.
__kernel void pass_interior(__global const uchar *restrict bytes, struct layout layout,
                            __global const int *restrict args, destination to)
{
    pass(bytes, layout, args, to, get_global_id(0), get_global_id(1), 0);
}

// The pixels nearer than the radius to an edge, numbered row by row: whole rows above and below, then both sides.
__kernel void pass_edges(__global const uchar *restrict bytes, struct layout layout, __global const int *restrict args,
                         destination to)
{
    const int width = layout.width, height = layout.height, radius = PASS_RADIUS;
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

// Every pixel, for devices that hide the cost of a clamp. The NDRange is rounded up to whole work-groups.
__kernel void pass_all(__global const uchar *restrict bytes, struct layout layout, __global const int *restrict args,
                       destination to)
{
    const int x = get_global_id(0), y = get_global_id(1);
    if (x < layout.width && y < layout.height)
        pass(bytes, layout, args, to, x, y, 1);
}
