// encode.cl: converts RGBA to a YUV format (docs/pixels.md section 6)
//
// A work-item converts a block: two pixels wide, and two pixels high if SHIFT_Y is 1. The host's build options are
// columns of the format's row (src/image/pixfmt.c): the first byte of Y, U and V, the bytes from one sample to the next
// (CHROMA_STEP is 0 without chroma) and the planes of U and V. SHIFT_X is 1 if chroma has half the width, SHIFT_Y is 1
// if it has half the height.
#ifndef Y_STEP
#define Y_BYTE 0
#define Y_STEP 1
#define U_PLANE 1
#define U_BYTE 0
#define V_PLANE 1
#define V_BYTE 1
#define CHROMA_STEP 2
#define SHIFT_X 1
#define SHIFT_Y 1
#endif

// The host's struct encoding (src/path/opencl_results.c): width, height, stride of the input in pixels, the weights of
// red, green and blue for Y, for U and for V, then the offset of Y.
typedef int16 encoding;

#define RED(p) ((int)((p)&255))
#define GREEN(p) ((int)((p) >> 8 & 255))
#define BLUE(p) ((int)((p) >> 16 & 255))
// docs/pixels.md section 5
#define UPPER_HALF(c, k) (((c) << 7) * (k) >> 16)
#define WEIGH(p, r, g, b, middle)                                                                                      \
    ((UPPER_HALF(RED(p), r) + UPPER_HALF(GREEN(p), g) + UPPER_HALF(BLUE(p), b) + ((middle) << 6) + 33) >> 6)
#define LUMA(p) WEIGH(p, e.s3, e.s4, e.s5, e.sc)
#define CHROMA_U(p) min(255, WEIGH(p, e.s6, e.s7, e.s8, 128))
#define CHROMA_V(p) min(255, WEIGH(p, e.s9, e.sa, e.sb, 128))

// The mean of U or V over the block: pixels a and b, and pixels c and d below them.
#if SHIFT_Y
#define MEAN(chroma) ((chroma(a) + chroma(b) + chroma(c) + chroma(d) + 2) >> 2)
#else
#define MEAN(chroma) ((chroma(a) + chroma(b) + 1) >> 1)
#endif

// Returns the offset of the chroma of pixel row y. Packed formats have chroma in plane 0, beside luma.
static inline int chroma_row(int width, int height, int plane, int y)
{
    const int row_bytes = ((width + SHIFT_X) >> SHIFT_X) * CHROMA_STEP, rows = (height + SHIFT_Y) >> SHIFT_Y;
    return plane == 0 ? y * width * Y_STEP : width * height + ((plane - 1) * rows + (y >> SHIFT_Y)) * row_bytes;
}

// Converts the block of a work-item. If the picture ends inside the block, the right column is the left column again,
// and the lower row is the upper row again. Their samples are then written twice, with the same values. The NDRange is
// exact, because compilers do not vectorise a kernel that checks its place.
__kernel void encode(__global const uint *restrict from, encoding e, __global uchar *restrict to)
{
    const int x = 2 * (int)get_global_id(0), y = (int)get_global_id(1) << SHIFT_Y, width = e.s0, height = e.s1;
    const int right = min(x + 1, width - 1);
    const uint a = from[y * e.s2 + x], b = from[y * e.s2 + right];
    __global uchar *luma = to + y * width * Y_STEP + Y_BYTE;
    luma[x * Y_STEP] = LUMA(a);
    luma[right * Y_STEP] = LUMA(b);
#if SHIFT_Y
    const int below = min(y + 1, height - 1);
    const uint c = from[below * e.s2 + x], d = from[below * e.s2 + right];
    __global uchar *lower = to + below * width * Y_STEP + Y_BYTE;
    lower[x * Y_STEP] = LUMA(c);
    lower[right * Y_STEP] = LUMA(d);
#endif
#if CHROMA_STEP
    __global uchar *u = to + chroma_row(width, height, U_PLANE, y) + U_BYTE;
    __global uchar *v = to + chroma_row(width, height, V_PLANE, y) + V_BYTE;
#if SHIFT_X
    u[(x >> 1) * CHROMA_STEP] = MEAN(CHROMA_U);
    v[(x >> 1) * CHROMA_STEP] = MEAN(CHROMA_V);
#else
    u[x * CHROMA_STEP] = CHROMA_U(a);
    v[x * CHROMA_STEP] = CHROMA_V(a);
    u[right * CHROMA_STEP] = CHROMA_U(b);
    v[right * CHROMA_STEP] = CHROMA_V(b);
#endif
#endif
}
