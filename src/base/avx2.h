// avx2.h: the one door to AVX2's own instructions, for what compilers make badly from plain C
//
// Every function that is written in them has a twin in plain C that gives the same bytes. It makes as much of a row as
// fills whole vectors, and returns how much; the twin makes the rest, or the whole row where the processor has no AVX2.
// Builds with -fsanitize=thread have the twins alone, so that these are tested as well.
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

// The same for bytes that several instructions use: compilers would let each of them load the bytes again.
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

// With `past`, writes to memory directly, past the caches, for bytes that nobody will read soon: a whole line is then
// written without being read first. The address must be a multiple of AVX2_PAST_ALIGNMENT then.
AVX2_INLINE void avx2_store_past(void *to, __m256i value, bool past)
{
    if (past)
        _mm256_stream_si256((__m256i *)to, value);
    else
        avx2_store(to, value);
}

// Has the line of cache at `from` fetched ahead, without waiting for it. Any address will do, also one of no memory.
AVX2_INLINE void avx2_fetch(const void *from)
{
    __builtin_prefetch(from, 0, 2);
}

// For a loop that writes a row from left to right and is now at `to`: has the line that it will write in a while
// fetched ahead, since processors do not see writes coming as they do reads. Beyond the end of the row it does no harm.
AVX2_INLINE void avx2_fetch_to_write(const void *to)
{
    __builtin_prefetch((const uint8_t *)to + 2048, 1, 2);
}

// For a loop that reads bytes from left to right, writes past the caches, and is now at `from`: has the line fetched
// ahead that it will read in a while, for one use.
AVX2_INLINE void avx2_fetch_once(const void *from)
{
    __builtin_prefetch((const uint8_t *)from + 2048, 0, 0);
}

// The same 16 bytes in both halves.
AVX2_INLINE __m256i avx2_load_twice(const void *from)
{
    return _mm256_broadcastsi128_si256(_mm_loadu_si128((const __m128i *)from));
}
#endif

// To be called after stores past the caches: other threads see these before anything that is stored later.
static inline void avx2_finish_past(void)
{
#ifdef HAVE_AVX2
    _mm_sfence();
#endif
}

// Whether this processor has AVX2, and MONOCLE_VECTORS allows it.
static inline bool avx2_works(void)
{
#ifdef HAVE_AVX2
    return vectors_level() >= VECTORS_AVX2;
#else
    return false;
#endif
}

// What a function in AVX2 returns: how much of a row it has made. 0 where there is no AVX2; builds without it need no
// such function.
#ifdef HAVE_AVX2
#define AVX2_MADE(call) (avx2_works() ? (call) : 0)
#else
#define AVX2_MADE(call) 0
#endif
