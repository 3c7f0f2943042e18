// clones.h: what lets plain C loops over pixels become vector code
#pragma once

#include <stdint.h>

// A pixel's four bytes as one word, wherever they lie.
typedef uint32_t __attribute__((aligned(1), may_alias)) pixel_word;

// Compiled once more for processors with AVX2 and chosen when the program starts; the same C either way. Sanitizers
// cannot run the resolvers that choose, so their builds have the plain one alone.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&               \
    !defined(__SANITIZE_THREAD__)
#define VECTOR_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define VECTOR_CLONES
#endif

// Ahead of a loop whose steps do not meet: one may read where it writes, and nowhere else.
#if defined(__GNUC__) && !defined(__clang__)
#define VECTOR_LOOP _Pragma("GCC ivdep")
#else
#define VECTOR_LOOP _Pragma("clang loop vectorize(assume_safety)")
#endif

// Lets products and sums be fused where the processor can, in functions whose floats are whole numbers that fit.
#if defined(__GNUC__) && !defined(__clang__)
#define FUSED_MULTIPLY_ADD __attribute__((optimize("fp-contract=fast")))
#else
#define FUSED_MULTIPLY_ADD
#endif
