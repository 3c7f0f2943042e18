// pass_io.cl: how a pass reads its input and writes its output
//
// The host puts the language and the pass's macros before the template that includes this file, and the filters after
// it (src/path/pass_text.c). The macros here are those of a pass without filters, so that each file compiles alone.
#ifndef PASS_IO_CL
#define PASS_IO_CL
#include "source.cl"

#ifndef PASS_BEFORE
#include "load_rgba.cl"
// The filters before the stencil, or all point filters; (x, y): the pixel's place.
#define PASS_BEFORE(p, args, x, y) (p)
#define PASS_AFTER(p, args, x, y) (p) // point filters after the stencil
#define PASS_LOAD_X(x, width) (x)     // the input column of a pixel; mirrored or not
#define PASS_LOAD_Y(y, height) (y)
#define PASS_STORE_X(x, width) (x) // the output column of a pixel
#define PASS_STORE_Y(y, height) (y)
#define PASS_WIDTH(args, width) (width) // of the output
#define PASS_HEIGHT(args, height) (height)
#endif

// For a pass with a stencil the host also defines these macros, and the template defines `view` and `tap`:
//   PASS_STENCIL              the filter's function
//   PASS_STENCIL_AT           index of its first argument
//   PASS_RADIUS               its radius
//   PASS_EQUAL_CHANNELS       defined if its input is grey: all three channels are equal
//   PASS_ALPHA                defined if it makes alpha like a colour
// For a pass with a warp:
//   PASS_WARP(args, x, y)     the place in the input of an output pixel
//   PASS_WHOLE                defined if all these places are whole numbers of pixels
//   PASS_TAPS(args)           defined if the warp weighs pixels (warp.cl): its arguments
// For a pass with a second picture (only in pass.cl):
//   PASS_LAST(p, second, args, x, y)   the last point filters
//   PASS_REMEMBERS_INPUT, PASS_REMEMBERS_OUTPUT   defined if their input or output replaces the second picture
#define RADIUS(v) PASS_RADIUS

// The types are macros, because NVIDIA's compiler does not recognise an image type behind a typedef. Only kernel
// arguments are `restrict`: in an inline function `restrict` becomes an intrinsic that Oclgrind 21.10 does not know.
#if defined(PASS_TO_IMAGE)
#define DESTINATION write_only image2d_t
#elif defined(PASS_TO_GREY) // all three colours are equal, alpha is 255: one byte per pixel
#define DESTINATION __global uchar *
#else
#define DESTINATION __global uint *
#endif

// The host's struct opencl_layout (src/path/opencl_chain.h): width, height, strides of planes 0 to 2, offsets of planes
// 1 and 2, then the stride of the output in pixels.
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

// Returns the pass's input at (x, y), inside the picture, after the point filters before the stencil.
INLINE pixel input(struct source source, arguments args, int x, int y)
{
    const pixel p = load(source, args, PASS_LOAD_X(x, source.width), PASS_LOAD_Y(y, source.height));
    return PASS_BEFORE(p, args, x, y);
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
