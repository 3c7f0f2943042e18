// pass_io.cl: how a pass reads its input and writes its output
//
// The host puts the plan ahead of this file as macros (src/path/pass_text.c); the ones here make it compile alone.
#ifndef PASS_IO_CL
#define PASS_IO_CL
#include "pixel.cl"

#ifndef PASS_BEFORE
#include "load_rgba.cl"
#define PASS_BEFORE(p, args) (p) // point filters ahead of the stencil, or all of them
#define PASS_STENCIL(view, args) tap(view, 0, 0)
#define PASS_STENCIL_ARGUMENTS(args) (args)
#define PASS_AFTER(p, args) (p)   // point filters behind the stencil
#define PASS_LOAD_X(x, width) (x) // where the input lies that belongs to a place, mirrored or not
#define PASS_LOAD_Y(y, height) (y)
#define PASS_STORE_X(x, width) (x) // where the output goes
#define PASS_STORE_Y(y, height) (y)
#endif

#ifndef PASS_RADIUS
#define PASS_RADIUS 0
#endif

// Macros: NVIDIA's compiler does not see an image behind a typedef.
#if defined(PASS_TO_IMAGE)
#define DESTINATION write_only image2d_t
#elif defined(PASS_TO_GREY) // every channel is the same, alpha 255: one byte a pixel
#define DESTINATION __global uchar *restrict
#else
#define DESTINATION __global uint *restrict
#endif

// The host's struct opencl_layout (src/path/opencl_path.h): width, height, strides of planes 0 to 2, offsets of planes
// 1 and 2, then pixels from row to row of the output.
typedef int8 layout;

INLINE struct source source_of(__global const uchar *bytes, layout layout)
{
    struct source source;
    source.bytes = bytes;
    source.width = layout.s0;
    source.height = layout.s1;
    source.stride0 = layout.s2;
    source.stride1 = layout.s3;
    source.stride2 = layout.s4;
    source.offset1 = layout.s5;
    source.offset2 = layout.s6;
    return source;
}

// The pass's input at (x, y) inside the picture, through the point filters ahead of the stencil.
INLINE pixel input(struct source source, arguments args, int x, int y)
{
    const pixel p = load(source, args, PASS_LOAD_X(x, source.width), PASS_LOAD_Y(y, source.height));
    return PASS_BEFORE(p, args);
}

// What a stencil sees of its input. Of channels that are alike, and of what a filter makes of each, compilers keep one.
INLINE pixel seen(pixel p)
{
#ifdef PASS_ALIKE
    p.g = p.b = p.r;
#endif
    return p;
}

INLINE void store(DESTINATION to, layout layout, int x, int y, pixel p)
{
    x = PASS_STORE_X(x, layout.s0);
    y = PASS_STORE_Y(y, layout.s1);
#if defined(PASS_TO_IMAGE)
    write_imagef(to, (int2)(x, y), (float4)(p.r, p.g, p.b, p.a) / 255.0f);
#elif defined(PASS_TO_GREY)
    to[y * layout.s7 + x] = p.g;
#else
    to[y * layout.s7 + x] = pack(p);
#endif
}

#endif
