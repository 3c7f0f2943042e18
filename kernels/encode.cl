// encode.cl: RGBA into a YUV format (docs/pixels.md section 6)
//
// A work-item makes a block: two pixels across, and two down where chroma is halved that way too. The host's build
// options are the columns of the format's row (src/image/pixfmt.c): the first byte of Y, U and V, the bytes from one
// sample to the next (CHROMA_STEP is 0 without chroma), the planes of U and V, and how often chroma is halved.
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
#define BLOCK_ROWS (1 << SHIFT_Y)

// The host's struct encoding (src/path/opencl_encode.c): width, height, pixels from row to row of the input, then the
// weights of red, green and blue for Y, for U and for V, then what is added to Y.
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

// The means of U and of V over a block's pixels a, b and, below them, c, d.
#if SHIFT_Y
#define MEAN(chroma) ((chroma(a) + chroma(b) + chroma(c) + chroma(d) + 2) >> 2)
#else
#define MEAN(chroma) ((chroma(a) + chroma(b) + 1) >> 1)
#endif

// Where row y of a plane of chroma begins. It may be the plane of luma.
static inline int chroma_row(int width, int height, int plane, int y)
{
    const int row_bytes = ((width + SHIFT_X) >> SHIFT_X) * CHROMA_STEP, rows = (height + SHIFT_Y) >> SHIFT_Y;
    return plane == 0 ? y * width * Y_STEP : width * height + ((plane - 1) * rows + (y >> SHIFT_Y)) * row_bytes;
}

// The block at (x, y); `right` and `below` are its other column and row, the same ones again where the picture ends.
// The encoding is too large to be handed over by value without a compiler's warning.
static inline void encode_block(__global const uint *restrict from, const encoding *encoding_at,
                                __global uchar *restrict to, int x, int y, int right, int below)
{
    const encoding e = *encoding_at;
    const int width = e.s0;
    const uint a = from[y * e.s2 + x], b = from[y * e.s2 + right];
    __global uchar *luma = to + y * width * Y_STEP + Y_BYTE;
    luma[x * Y_STEP] = LUMA(a);
    if (right > x)
        luma[right * Y_STEP] = LUMA(b);
#if SHIFT_Y
    const uint c = from[below * e.s2 + x], d = from[below * e.s2 + right];
    __global uchar *lower = to + below * width * Y_STEP + Y_BYTE;
    if (below > y)
        lower[x * Y_STEP] = LUMA(c);
    if (below > y && right > x)
        lower[right * Y_STEP] = LUMA(d);
#endif
#if CHROMA_STEP
    __global uchar *u = to + chroma_row(width, e.s1, U_PLANE, y) + (x >> SHIFT_X) * CHROMA_STEP + U_BYTE;
    __global uchar *v = to + chroma_row(width, e.s1, V_PLANE, y) + (x >> SHIFT_X) * CHROMA_STEP + V_BYTE;
#if SHIFT_X
    *u = MEAN(CHROMA_U);
    *v = MEAN(CHROMA_V);
#else
    *u = CHROMA_U(a);
    *v = CHROMA_V(a);
    if (right > x) {
        u[CHROMA_STEP] = CHROMA_U(b);
        v[CHROMA_STEP] = CHROMA_V(b);
    }
#endif
#endif
}

// Whole blocks. The NDRange is rounded up to whole work-groups.
__kernel void encode(__global const uint *restrict from, encoding e, __global uchar *restrict to)
{
    const int x = 2 * (int)get_global_id(0), y = BLOCK_ROWS * (int)get_global_id(1);
    if (x + 1 >= e.s0 || y + BLOCK_ROWS > e.s1)
        return;
    encode_block(from, &e, to, x, y, x + 1, y + BLOCK_ROWS - 1);
}

// Blocks that the picture ends in: those of its last column, if that is an odd one, and then those of its last row. The
// NDRange is rounded up to whole work-groups.
__kernel void encode_edges(__global const uint *restrict from, encoding e, __global uchar *restrict to)
{
    const int width = e.s0, height = e.s1, index = get_global_id(0);
    const int in_column = width % 2 == 0 ? 0 : (height + BLOCK_ROWS - 1) / BLOCK_ROWS;
    const int in_row = height % BLOCK_ROWS == 0 ? 0 : (width + 1) / 2;
    if (index >= in_column + in_row)
        return;
    const int x = index < in_column ? width - 1 : 2 * (index - in_column);
    const int y = index < in_column ? BLOCK_ROWS * index : height - 1;
    encode_block(from, &e, to, x, y, min(x + 1, width - 1), min(y + BLOCK_ROWS - 1, height - 1));
}
