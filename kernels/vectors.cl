// vectors.cl: the one door to AVX2's own instructions, for vectors of the language, and their plain twins
#ifndef VECTORS_CL
#define VECTORS_CL
#include "pixel.cl"

// Of 16 lanes of 32 bits, which are wider than registers: as the language's function a call that compilers warn of.
#ifdef __clang__
#define CONVERT(type, value) __builtin_convertvector(value, type)
#else
#define CONVERT(type, value) convert_##type(value)
#endif

// Asks for the line of cache at an address, to be written to or not. Beyond the end of memory it does no harm.
#ifdef __clang__
#define ASK_FOR(address, written) __builtin_prefetch((const void *)(uintptr_t)(address), written, 3)
#else
#define ASK_FOR(address, written)
#endif

// Upper halves of products. In the language's terms each use spreads the factor anew, and PoCL's mul_hi goes lane by
// lane.
INLINE short16 upper_halves(short16 a, short b)
{
#ifdef __AVX2__
    return __builtin_ia32_pmulhw256(a, (short16)b);
#else
    return CONVERT(short16, CONVERT(int16, a) * (int)b >> 16);
#endif
}

// Where words are twos of 16 bits: sum + one two's products with the other's, all signed. In the language's terms
// compilers order sums anew and do not find the instruction.
INLINE int8 dot2_words(uint8 weights, uint8 values, int8 sum)
{
#ifdef __AVX2__
    return sum + as_int8(__builtin_ia32_pmaddwd256(as_short16(weights), as_short16(values)));
#else
    const int8 lower = (as_int8(weights << 16) >> 16) * (as_int8(values << 16) >> 16);
    return sum + lower + (as_int8(weights) >> 16) * (as_int8(values) >> 16);
#endif
}

#endif
