// yuv.cl: YUV to RGB for the loaders, in the kernel language (docs/pixels.md section 1)
//
// Arguments: CY BIAS RV GU GV BU.
#ifndef YUV_CL
#define YUV_CL
#ifndef COEFFICIENT
#define COEFFICIENT ARG
#endif

// Returns a channel from a sum with 21 fraction bits. Saturating first lets a GPU do it together with the sum.
INLINE int fraction21(int value)
{
    return min((256 << 21) - 1, max(0, value)) >> 21;
}

// As in docs/pixels.md, times 65536: the bits that are cut off there are masked off here. No sum reaches 2^31, because
// the contract's sums are below 2^15.
INLINE pixel yuv_pixel(arguments k, int luma8, int u8, int v8)
{
    int y = luma8 * (COEFFICIENT(k, 0) << 7) + (COEFFICIENT(k, 1) << 16);
    int u = (u8 - 128) << 8, v = (v8 - 128) << 8, whole = ~0xffff;
    pixel p;
    p.r = fraction21(y + (v * COEFFICIENT(k, 2) & whole));
    p.g = fraction21(y - ((u * COEFFICIENT(k, 3) & whole) + (v * COEFFICIENT(k, 4) & whole)));
    p.b = fraction21(y + (u * COEFFICIENT(k, 5) & whole));
    p.a = 255;
    return p;
}

#endif
