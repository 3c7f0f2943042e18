// encode.cl: RGBA into nv12, yuyv, yu12, 422p, 444p or grey (docs/pixels.md section 6)
//
// A work-item makes a block: two pixels across, and two down where chroma is halved that way too. The host puts one of
// ENCODE_NV12, ENCODE_YUYV, ENCODE_YU12, ENCODE_422P, ENCODE_444P and ENCODE_GREY into the build's options, and
// ENCODE_EXACT where the NDRange of `encode` is not rounded up to whole work-groups.
#if !defined ENCODE_NV12 && !defined ENCODE_YUYV && !defined ENCODE_YU12 && !defined ENCODE_422P &&                    \
    !defined ENCODE_444P && !defined ENCODE_GREY
#define ENCODE_NV12
#endif
#if defined ENCODE_NV12 || defined ENCODE_YU12
#define BLOCK_ROWS 2
#else
#define BLOCK_ROWS 1
#endif

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

// The block at (x, y); `right` and `below` are its other column and row, the same ones again where the picture ends.
// The encoding is too large to be handed over by value without a compiler's warning.
static inline void encode_block(__global const uint *restrict from, const encoding *encoding_at,
                                __global uchar *restrict to, int x, int y, int right, int below)
{
    const encoding e = *encoding_at;
    const int width = e.s0;
    const uint a = from[y * e.s2 + x], b = from[y * e.s2 + right];
#ifdef ENCODE_YUYV
    __global uchar *pair = to + 2 * (y * width + x);
    pair[0] = LUMA(a);
    pair[1] = (CHROMA_U(a) + CHROMA_U(b) + 1) >> 1;
    pair[2] = LUMA(b);
    pair[3] = (CHROMA_V(a) + CHROMA_V(b) + 1) >> 1;
#else
    __global uchar *luma = to + y * width;
    luma[x] = LUMA(a);
    if (right > x)
        luma[right] = LUMA(b);
#endif
#if BLOCK_ROWS == 2
    const uint c = from[below * e.s2 + x], d = from[below * e.s2 + right];
    const int half_width = (width + 1) / 2, at = y / 2 * half_width + x / 2;
    const int u = (CHROMA_U(a) + CHROMA_U(b) + CHROMA_U(c) + CHROMA_U(d) + 2) >> 2;
    const int v = (CHROMA_V(a) + CHROMA_V(b) + CHROMA_V(c) + CHROMA_V(d) + 2) >> 2;
    if (below > y)
        to[below * width + x] = LUMA(c);
    if (below > y && right > x)
        to[below * width + right] = LUMA(d);
#endif
#if defined ENCODE_NV12
    __global uchar *chroma = to + width * e.s1;
    chroma[2 * at] = u;
    chroma[2 * at + 1] = v;
#elif defined ENCODE_YU12
    __global uchar *chroma = to + width * e.s1;
    chroma[at] = u;
    chroma[half_width * ((e.s1 + 1) / 2) + at] = v;
#elif defined ENCODE_422P
    __global uchar *chroma = to + width * e.s1;
    const int half_width = (width + 1) / 2, at = y * half_width + x / 2;
    chroma[at] = (CHROMA_U(a) + CHROMA_U(b) + 1) >> 1;
    chroma[half_width * e.s1 + at] = (CHROMA_V(a) + CHROMA_V(b) + 1) >> 1;
#elif defined ENCODE_444P
    __global uchar *u = luma + width * e.s1, *v = u + width * e.s1;
    u[x] = CHROMA_U(a);
    v[x] = CHROMA_V(a);
    if (right > x) {
        u[right] = CHROMA_U(b);
        v[right] = CHROMA_V(b);
    }
#endif
}

// Whole blocks.
__kernel void encode(__global const uint *restrict from, encoding e, __global uchar *restrict to)
{
    const int x = 2 * (int)get_global_id(0), y = BLOCK_ROWS * (int)get_global_id(1);
#ifndef ENCODE_EXACT
    if (x + 1 >= e.s0 || y + BLOCK_ROWS > e.s1)
        return;
#endif
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
