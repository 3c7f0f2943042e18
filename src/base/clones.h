// clones.h: what lets plain C loops over pixels become vector code
#pragma once

#include <stdint.h>

// A pixel's four bytes as one word, two bytes as another, wherever they lie.
typedef uint32_t __attribute__((aligned(1), may_alias)) pixel_word;
typedef uint16_t __attribute__((aligned(1), may_alias)) byte_pair;

// The upper half of a product, which is one instruction for many lanes.
static inline int16_t upper_half(int16_t a, int16_t b)
{
    return (int16_t)(a * b >> 16);
}

static inline int sat8(int value)
{
    return value < 0 ? 0 : value > 255 ? 255 : value;
}

// A function of this kind is compiled twice from the same C: for every processor, and for those with AVX2. The program
// chooses one when it starts. Sanitizers cannot run the code that chooses, so their builds have the first alone.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&               \
    !defined(__SANITIZE_THREAD__)
#define VECTOR_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define VECTOR_CLONES
#endif

// Put before a loop whose steps do not depend on one another, so that compilers need not prove it: a step may read what
// it writes itself, but nothing that another step writes.
#if defined(__GNUC__) && !defined(__clang__)
#define VECTOR_LOOP _Pragma("GCC ivdep")
#else
#define VECTOR_LOOP _Pragma("clang loop vectorize(assume_safety)")
#endif

// Lets the compiler round a product and a sum once instead of twice. For functions whose floats are whole numbers below
// 2^24 only: these are exact either way, so that bytes stay the same.
#if defined(__GNUC__) && !defined(__clang__)
#define FUSED_MULTIPLY_ADD __attribute__((optimize("fp-contract=fast")))
#else
#define FUSED_MULTIPLY_ADD
#endif
