// encode.cl: RGBA into nv12, yuyv or yu12 (docs/pixels.md section 6)
//
// A work-item makes a block: two pixels across, and two down where chroma is halved that way too. The host puts one of
// ENCODE_NV12, ENCODE_YUYV and ENCODE_YU12 into the build's options, and ENCODE_FROM_IMAGE or ENCODE_EXACT.
#if !defined ENCODE_YUYV && !defined ENCODE_YU12
#define ENCODE_NV12
#endif

// The host's struct encoding (src/path/opencl_encode.c): width, height, pixels from row to row of the input, then the
// weights of red, green and blue for Y, for U and for V.
typedef int16 encoding;

// Macros, not functions: NVIDIA's compiler does not see an image behind a parameter's type.
#ifdef ENCODE_FROM_IMAGE
#define PICTURE read_only image2d_t
#define FETCH(x, y)                                                                                                    \
    convert_int4_rte(                                                                                                  \
        read_imagef(from, CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_NONE | CLK_FILTER_NEAREST, (int2)(x, y)) * 255.0f)
#define RED(p) ((p).x)
#define GREEN(p) ((p).y)
#define BLUE(p) ((p).z)
typedef int4 fetched;
#else
#define PICTURE __global const uint *restrict
#define FETCH(x, y) from[(y)*e.s2 + (x)]
#define RED(p) ((int)((p)&255))
#define GREEN(p) ((int)((p) >> 8 & 255))
#define BLUE(p) ((int)((p) >> 16 & 255))
typedef uint fetched;
#endif

#define WEIGH(p, r, g, b) (((r)*RED(p) + (g)*GREEN(p) + (b)*BLUE(p) + (1 << 15)) >> 16)
#define LUMA(p) (16 + WEIGH(p, e.s3, e.s4, e.s5))
#define CHROMA_U(p) (128 + WEIGH(p, e.s6, e.s7, e.s8))
#define CHROMA_V(p) (128 + WEIGH(p, e.s9, e.sa, e.sb))

__kernel void encode(PICTURE from, encoding e, __global uchar *restrict to)
{
    const int x = 2 * (int)get_global_id(0), width = e.s0, height = e.s1;
#ifdef ENCODE_YUYV
    const int y = get_global_id(1);
#else
    const int y = 2 * (int)get_global_id(1);
#endif
#ifndef ENCODE_EXACT // the NDRange is rounded up to whole work-groups
    if (x >= width || y >= height)
        return;
#endif
    const fetched a = FETCH(x, y), b = FETCH(x + 1, y);
#ifdef ENCODE_YUYV
    __global uchar *pair = to + 2 * (y * width + x);
    pair[0] = LUMA(a);
    pair[1] = (CHROMA_U(a) + CHROMA_U(b) + 1) >> 1;
    pair[2] = LUMA(b);
    pair[3] = (CHROMA_V(a) + CHROMA_V(b) + 1) >> 1;
#else
    const fetched c = FETCH(x, y + 1), d = FETCH(x + 1, y + 1);
    const int u = (CHROMA_U(a) + CHROMA_U(b) + CHROMA_U(c) + CHROMA_U(d) + 2) >> 2;
    const int v = (CHROMA_V(a) + CHROMA_V(b) + CHROMA_V(c) + CHROMA_V(d) + 2) >> 2;
    __global uchar *luma = to + y * width + x, *chroma = to + width * height;
    luma[0] = LUMA(a);
    luma[1] = LUMA(b);
    luma[width] = LUMA(c);
    luma[width + 1] = LUMA(d);
#ifdef ENCODE_NV12
    chroma[y / 2 * width + x] = u;
    chroma[y / 2 * width + x + 1] = v;
#else
    chroma[y / 2 * (width / 2) + x / 2] = u;
    chroma[width * height / 4 + y / 2 * (width / 2) + x / 2] = v;
#endif
#endif
}
