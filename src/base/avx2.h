// avx2.h: the one door to AVX2's own instructions, for what compilers make badly from plain C
//
// A function in them makes as much of a row as fits its vectors and returns how much; the rest of the row is its plain
// twin's, and all of it where the processor has no AVX2. Builds with -fsanitize=thread have the plain twins alone, so
// that tests see them.
#pragma once

#include "base/vectors.h"

#include <stdbool.h>
#include <stdint.h>

enum { AVX2_PAST_ALIGNMENT = 32 };

#if defined(__x86_64__) && !defined(__SANITIZE_THREAD__)
#define HAVE_AVX2 1
#include <immintrin.h>

#define AVX2 __attribute__((target("avx2")))
#define AVX2_INLINE static inline __attribute__((target("avx2"), always_inline))

// 32 bytes, wherever they lie.
AVX2_INLINE __m256i avx2_load(const void *from)
{
    return _mm256_loadu_si256((const __m256i *)from);
}

// The same where several instructions use it: compilers would have each load it anew.
AVX2_INLINE __m256i avx2_load_once(const void *from)
{
    __m256i value = avx2_load(from);
    __asm__("" : "+v"(value));
    return value;
}

AVX2_INLINE void avx2_store(void *to, __m256i value)
{
    _mm256_storeu_si256((__m256i *)to, value);
}

// Stores where nobody will read soon: past the caches, which takes an address that is a multiple of
// AVX2_PAST_ALIGNMENT. A line that is written whole is not read first.
AVX2_INLINE void avx2_store_past(void *to, __m256i value, bool past)
{
    if (past)
        _mm256_stream_si256((__m256i *)to, value);
    else
        avx2_store(to, value);
}

// Asks for the line of cache at `from`, which will be read.
AVX2_INLINE void avx2_fetch(const void *from)
{
    __builtin_prefetch(from, 0, 2);
}

// Asks for the line that will be written when memory has answered, where a loop now writes `to`: processors do not see
// this coming. Beyond the end of what is written it does no harm.
AVX2_INLINE void avx2_fetch_to_write(const void *to)
{
    __builtin_prefetch((const uint8_t *)to + 2048, 1, 2);
}

// The same 16 bytes in both halves.
AVX2_INLINE __m256i avx2_load_twice(const void *from)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)from));
}
#endif

// Lets what was stored past the caches be seen ahead of what is stored from here on.
static inline void avx2_finish_past(void)
{
#ifdef HAVE_AVX2
    _mm_sfence();
#endif
}

// Whether rows may use them.
static inline bool avx2_works(void)
{
#ifdef HAVE_AVX2
    return vectors_level() >= VECTORS_AVX2;
#else
    return false;
#endif
}
