// dot.cl: words of one channel of several pixels, and their dot products with weights
#ifndef DOT_CL
#define DOT_CL
#include "variants/words.cl"

// Collects the red, green and blue bytes of four pixels in one word each.
INLINE void channels4(uint p0, uint p1, uint p2, uint p3, uint *red, uint *green, uint *blue)
{
#ifdef PERMUTE
    uint red_green01, red_green23, blue01, blue23;
    PERMUTE(red_green01, p0, p1, "0x5140")
    PERMUTE(red_green23, p2, p3, "0x5140")
    PERMUTE(blue01, p0, p1, "0x0062")
    PERMUTE(blue23, p2, p3, "0x0062")
    PERMUTE(*red, red_green01, red_green23, "0x5410")
    PERMUTE(*green, red_green01, red_green23, "0x7632")
    PERMUTE(*blue, blue01, blue23, "0x5410")
#else
    *red = low_bytes(p0 & 255, p1 & 255, p2 & 255, p3 & 255);
    *green = low_bytes(p0 >> 8 & 255, p1 >> 8 & 255, p2 >> 8 & 255, p3 >> 8 & 255);
    *blue = low_bytes(p0 >> 16 & 255, p1 >> 16 & 255, p2 >> 16 & 255, p3 >> 16 & 255);
#endif
}

// dot4: sum + the bytes times four signed 8-bit weights, the lowest first. dot2_lower, dot2_upper: sum + the two lower
// (upper) bytes times two signed 16-bit weights, the lower first.
#if NV_ARCH >= 61
#define DOT(name, instruction)                                                                                         \
    INLINE int name(uint weights, uint bytes, int sum)                                                                 \
    {                                                                                                                  \
        int result;                                                                                                    \
        asm(instruction " %0, %1, %2, %3;" : "=r"(result) : "r"(weights), "r"(bytes), "r"(sum));                       \
        return result;                                                                                                 \
    }
DOT(dot4, "dp4a.s32.u32")
DOT(dot2_lower, "dp2a.lo.s32.u32")
DOT(dot2_upper, "dp2a.hi.s32.u32")
#undef DOT
#else
INLINE int dot4(uint weights, uint bytes, int sum)
{
    return sum + ((int)(weights << 24) >> 24) * (int)(bytes & 255) +
           ((int)(weights << 16) >> 24) * (int)(bytes >> 8 & 255) +
           ((int)(weights << 8) >> 24) * (int)(bytes >> 16 & 255) + ((int)weights >> 24) * (int)(bytes >> 24);
}

INLINE int dot2_lower(uint weights, uint bytes, int sum)
{
    return sum + ((int)(weights << 16) >> 16) * (int)(bytes & 255) + ((int)weights >> 16) * (int)(bytes >> 8 & 255);
}

INLINE int dot2_upper(uint weights, uint bytes, int sum)
{
    return dot2_lower(weights, bytes >> 16, sum);
}
#endif

#endif
