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
    return v.channel == 0 ? p.r : v.channel == 1 ? p.g : v.channel == 2 ? p.b : p.a;
}

INLINE int PASS_STENCIL(view v, arguments args);

INLINE int filtered(view v, int channel)
{
    v.channel = channel;
    return PASS_STENCIL(v, v.args + PASS_STENCIL_AT);
}

#endif

#ifdef PASS_WARP

// Returns the input at (x, y), or the nearest edge pixel if that is outside.
INLINE pixel nearest(struct source source, arguments args, int x, int y)
{
    return input(source, args, clamp(x, 0, source.width - 1), clamp(y, 0, source.height - 1));
}

#ifdef PASS_TAPS
INLINE pixel warped(struct source source, arguments args, int x, int y)
{
    arguments taps = PASS_TAPS(args);
    const int at = taps_at(taps, x, y), first = ARG(taps, at), down = ARG(taps, 3);
    pixel sum = {0, 0, 0, 0};
    for (int i = 0; i < ARG(taps, 2); i++)
        sum = taps_add(sum, nearest(source, args, down ? x : first + i, down ? first + i : y), ARG(taps, at + 1 + i));
    return taps_end(sum);
}
#else
INLINE pixel warped(struct source source, arguments args, int x, int y)
{
    const place at = PASS_WARP(args, x, y);
    const int left = at.x >> 8, top = at.y >> 8;
#ifdef PASS_WHOLE
    return nearest(source, args, left, top);
#else
    return warp_pixel(nearest(source, args, left, top), nearest(source, args, left + 1, top),
                      nearest(source, args, left, top + 1), nearest(source, args, left + 1, top + 1), at);
#endif
}
#endif

#endif

// The second picture; its rows are as far apart as those of the output.
#ifdef PASS_LAST
#define SECOND , __global uint *second
#define SECOND_GIVEN , second
#else
#define SECOND
#define SECOND_GIVEN
#endif

// Makes one pixel. `inside` (see view) is a literal, so that compilers remove the clamps of columns.
INLINE void pass_at(__global const uchar *bytes, layout layout, arguments args, DESTINATION to, int x, int y,
                    int inside SECOND)
{
    const struct source source = source_of(bytes, layout);
#ifdef PASS_WARP
    pixel p = warped(source, args, x, y);
    layout.s0 = PASS_WIDTH(args, layout.s0);
    layout.s1 = PASS_HEIGHT(args, layout.s1);
#else
    pixel p = input(source, args, x, y);
#endif
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
#ifdef PASS_ALPHA
    p.a = filtered(v, 3);
#endif
#endif
    p = PASS_AFTER(p, args, x, y);
#ifdef PASS_LAST
    const int at = y * layout.s7 + x;
#ifdef PASS_REMEMBERS_INPUT
    const uint remembered = pack(p);
#endif
    p = PASS_LAST(p, unpack(second[at]), args, x, y);
#if defined(PASS_REMEMBERS_INPUT)
    second[at] = remembered;
#elif defined(PASS_REMEMBERS_OUTPUT)
    second[at] = pack(p);
#endif
#endif
    store(to, layout, x, y, p);
}

__kernel void pass(__global const uchar *restrict bytes, layout layout, __global const int *restrict args,
                   DESTINATION to SECOND)
{
    const int x = get_global_id(0), y = get_global_id(1);
    const int width = PASS_WIDTH(args, layout.s0), height = PASS_HEIGHT(args, layout.s1);
    if (x < width && y < height) // the NDRange is rounded up to whole work-groups
        pass_at(bytes, layout, args, to, x, y, 0 SECOND_GIVEN);
}
