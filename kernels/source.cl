// source.cl: the input of a pass in memory, and pixels packed in words
#ifndef SOURCE_CL
#define SOURCE_CL

// A picture's memory. Sizes are in pixels, strides and offsets in bytes; plane 0 begins at 0. There are no arrays,
// because compilers keep only scalars in registers.
struct source {
    __global const uchar *bytes;
    int width, height;
    int stride0, stride1, stride2;
    int offset1, offset2;
};

// A loader defines two functions. load() reads the pixel at (x, y), which is inside the picture. load4() reads four
// neighbours in a row, for variants: x is a multiple of 4, and the last pixels may lie in the padding of the row.
INLINE pixel load(struct source source, arguments args, int x, int y);
INLINE void load4(struct source source, arguments args, int x, int y, pixel *p);

// Returns a pixel as one word, with its bytes as in memory.
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

#endif
