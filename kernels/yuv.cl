// yuv.cl: YUV to RGB for the loaders (docs/pixels.md section 1); arguments: CY BIAS RV GU GV BU
#ifndef YUV_CL
#define YUV_CL
#include "pixel.cl"

// To 0..255 from 5 bits of fraction. Saturating first lets a GPU do that along with the sum.
INLINE int fraction5(int value)
{
    return min(255 * 32 + 31, max(0, value)) >> 5;
}

INLINE pixel yuv_pixel(arguments k, int luma8, int u8, int v8)
{
    const int y = ((luma8 << 7) * k[0] >> 16) + k[1];
    const int u = (u8 - 128) * 256, v = (v8 - 128) * 256;
    pixel p;
    p.r = fraction5(y + (v * k[2] >> 16));
    p.g = fraction5(y - (u * k[3] >> 16) - (v * k[4] >> 16));
    p.b = fraction5(y + (u * k[5] >> 16));
    p.a = 255;
    return p;
}

#endif
