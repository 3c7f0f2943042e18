// pixel.cl: what every kernel file builds on: the pixel, the frame's memory, a filter's arguments
#ifndef PIXEL_CL
#define PIXEL_CL

// Everything is inlined into the kernel: a call left over stops compilers from vectorising over work-items.
#define INLINE __attribute__((always_inline))

// Four plain ints: compilers vectorise scalars over work-items, where they often fail on uchar4 or int4.
typedef struct {
    int r, g, b, a;
} pixel;

// Integers worked out on the host (src/filter/filter.h), those of a pass one behind the other. Built with
// PASS_IMMEDIATE they are a constant of the program and fold into the code; otherwise a buffer, so that changing one
// needs no build.
#ifdef PASS_IMMEDIATE
typedef __constant const int *arguments;
#else
typedef __global const int *arguments;
#endif

// A picture's memory: bytes, pixels. Plane 0 begins at 0. No arrays: compilers keep scalars in registers.
struct source {
    __global const uchar *bytes;
    int width, height;
    int stride0, stride1, stride2;
    int offset1, offset2;
};

// Where a filter works. The input of a stencil lies in memory or, with PASS_WINDOW, in registers already: the square
// that a block of outputs needs, as packed pixels.
struct view {
#ifdef PASS_WINDOW
    const uint *window;
#else
    struct source source;
    arguments args; // of the whole pass
    int checked;    // the reach may leave the picture, whose edge then repeats
#endif
    int x, y;
};

// A loader's two functions: the pixel at (x, y), which is inside the picture; and four side by side, where x is a
// multiple of 4 and the last ones may lie in the padding of the row.
pixel load(struct source source, arguments args, int x, int y);
void load4(struct source source, arguments args, int x, int y, pixel *p);

// The input of a stencil at an offset from its centre, point filters ahead of it applied.
pixel tap(struct view view, int dx, int dy);

// Red in the lower half of a word, blue in the upper: sums and small multiples of both are one operation as long as
// neither leaves 0..65535.
INLINE uint red_blue(pixel p)
{
    return (uint)p.r | (uint)p.b << 16;
}

// A pixel as one word, as it lies in memory.
INLINE uint pack(pixel p)
{
    return (uint)p.r | (uint)p.g << 8 | (uint)p.b << 16 | (uint)p.a << 24;
}

INLINE pixel unpack(uint word)
{
    pixel p;
    p.r = word & 255;
    p.g = word >> 8 & 255;
    p.b = word >> 16 & 255;
    p.a = word >> 24;
    return p;
}

INLINE int sat8(int value)
{
    return min(255, max(0, value));
}

// Rec. 601 luma as docs/pixels.md defines it.
INLINE int luma(pixel p)
{
    return (77 * p.r + 150 * p.g + 29 * p.b + 128) >> 8;
}

#endif
