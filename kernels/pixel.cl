// pixel.cl: what every kernel file builds on: the pixel, the frame's memory, a filter's arguments
#ifndef PIXEL_CL
#define PIXEL_CL

// Everything is inlined into the kernel: a call left over stops compilers from vectorising over work-items.
#define INLINE __attribute__((always_inline))

// Four plain ints: compilers vectorise scalars over work-items, where they often fail on uchar4 or int4.
typedef struct {
    int r, g, b, a;
} pixel;

// Integers worked out on the host (src/filter/filter.h), those of a pass one behind the other: in a buffer, so that
// changing one needs no build.
typedef __global const int *arguments;

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
    arguments args;                        // of the whole pass
    int checked;                           // the reach may leave the picture, whose edge then repeats
#endif
    int x, y;
};

// A loader's two functions: the pixel at (x, y), which is inside the picture; and four side by side, where x is a
// multiple of 4 and the last ones may lie in the padding of the row.
pixel load(struct source source, arguments args, int x, int y);
void load4(struct source source, arguments args, int x, int y, pixel *p);

#ifdef PASS_WIDE
typedef struct {
    uint8 lower, upper;
} words16;

// A third one: the 16 pixels side by side from (x, y), all of them inside the picture, as words.
words16 load_words16(struct source source, arguments args, int x, int y);
#endif

// The input of a stencil at an offset from its centre, point filters ahead of it applied.
pixel tap(struct view view, int dx, int dy);

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

// Sums over packed pixels, all channels at once. The sum of whole words and the sum of words under this mask together
// hold each channel's: red and blue are the halves of the masked sum; green lies from bit 8 up in their difference,
// with only alpha above it. Right as long as every channel's sum stays in 0..65535.
#define RED_BLUE 0x00ff00ffu

struct word_sum {
    uint all, red_blue;
};

INLINE uint green_of(struct word_sum sum)
{
    return (sum.all - sum.red_blue) >> 8 & 0xffff;
}

// What NVIDIA's compiler does not find by itself, from the compute capability that has it on (NV_ARCH: 90 for 9.0). For
// pack() it must not use these, since that has to cancel unpack().
#ifndef NV_ARCH
#define NV_ARCH 0
#endif
#if NV_ARCH > 0
#define PERMUTE(word, low, high, order) asm("prmt.b32 %0, %1, %2, " order ";" : "=r"(word) : "r"(low), "r"(high));
#define JOIN(word, r, g, b, a, pair)                                                                                   \
    {                                                                                                                  \
        uint rg, ba;                                                                                                   \
        PERMUTE(rg, r, g, pair)                                                                                        \
        PERMUTE(ba, b, a, pair)                                                                                        \
        PERMUTE(word, rg, ba, "0x5410")                                                                                \
    }
#endif

// Four words' bytes as one word: the lowest, and the highest ones.
INLINE uint low_bytes(uint r, uint g, uint b, uint a)
{
#ifdef JOIN
    uint word;
    JOIN(word, r, g, b, a, "0x0040")
    return word;
#else
    return r | g << 8 | b << 16 | a << 24; // none is above 255
#endif
}

INLINE uint high_bytes(uint r, uint g, uint b, uint a)
{
#ifdef JOIN
    uint word;
    JOIN(word, r, g, b, a, "0x0073")
    return word;
#else
    return r >> 24 | (g >> 24) << 8 | (b >> 24) << 16 | (a & 0xff000000u);
#endif
}

INLINE int sat8(int value)
{
    return min(255, max(0, value));
}

// Channels as one word, saturated.
INLINE uint saturated_bytes(int r, int g, int b, int a)
{
#if NV_ARCH >= 72
    uint word;
    asm("{ .reg .b32 upper; cvt.pack.sat.u8.s32.b32 upper, %1, %2, %5; cvt.pack.sat.u8.s32.b32 %0, %3, %4, upper; }"
        : "=r"(word)
        : "r"(a), "r"(b), "r"(g), "r"(r), "r"(0));
    return word;
#else
    return low_bytes(sat8(r), sat8(g), sat8(b), a); // alpha is what it was
#endif
}

// Rec. 601 luma as docs/pixels.md defines it.
INLINE int luma(pixel p)
{
    return (77 * p.r + 150 * p.g + 29 * p.b + 128) >> 8;
}

// A point filter's function over pixels side by side, as words.
#define EACH_OF_LINE(filter, from, to, count, args)                                                                    \
    for (int each = 0; each < (count); each++)                                                                         \
        (to)[each] = pack(filter(unpack((from)[each]), args));

#endif
