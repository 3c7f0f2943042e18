// words.cl: joins and saturates bytes of words, with instructions that NVIDIA's compiler does not choose by itself
#ifndef WORDS_CL
#define WORDS_CL

// The compute capability: 90 means 9.0.
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

// Returns the lowest bytes of four words as one word. pack() does not use this, so that compilers can cancel pack()
// against unpack().
INLINE uint low_bytes(uint r, uint g, uint b, uint a)
{
#ifdef JOIN
    uint word;
    JOIN(word, r, g, b, a, "0x0040")
    return word;
#else
    return r | g << 8 | b << 16 | a << 24; // no word is above 255
#endif
}

// Returns the highest bytes of four words as one word.
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

// Saturates three channels and returns the pixel as one word. Alpha is 0..255.
INLINE uint saturated_bytes(int r, int g, int b, int a)
{
#if NV_ARCH >= 72
    uint word;
    asm("{ .reg .b32 upper; cvt.pack.sat.u8.s32.b32 upper, %1, %2, %5; cvt.pack.sat.u8.s32.b32 %0, %3, %4, upper; }"
        : "=r"(word)
        : "r"(a), "r"(b), "r"(g), "r"(r), "r"(0));
    return word;
#else
    return low_bytes(sat8(r), sat8(g), sat8(b), a);
#endif
}

#endif
