// avx512.h: the one door to AVX-512's own instructions, where they were measured to be worth more than AVX2's
//
// As in avx2.h, but with vectors of 64 bytes. vectors.h says which instructions a processor must have for this.
#pragma once

#include "base/avx2.h"

#ifdef HAVE_AVX2
#define HAVE_AVX512 1

#define AVX512_TARGET "avx512f,avx512bw,avx512dq,avx512vl,avx512vbmi,avx512vnni"
#define AVX512 __attribute__((target(AVX512_TARGET)))
#define AVX512_INLINE static inline __attribute__((target(AVX512_TARGET), always_inline))

// 64 bytes, wherever they lie.
AVX512_INLINE __m512i avx512_load(const void *from)
{
    return _mm512_loadu_si512(from);
}

AVX512_INLINE void avx512_store(void *to, __m512i value)
{
    _mm512_storeu_si512(to, value);
}

// As avx2_store_past; `to` must then be a multiple of 64 bytes.
AVX512_INLINE void avx512_store_past(void *to, __m512i value, bool past)
{
    if (past)
        _mm512_stream_si512((__m512i *)to, value);
    else
        avx512_store(to, value);
}
#endif

// Whether this processor has AVX-512, and MONOCLE_VECTORS allows it.
static inline bool avx512_works(void)
{
#ifdef HAVE_AVX512
    return vectors_level() >= VECTORS_AVX512;
#else
    return false;
#endif
}

// Whether functions in AVX-512 may write this RGBA row. Past the caches (`past`) they write nothing but whole lines.
static inline bool avx512_fits(const uint8_t *rgba, int width, bool past)
{
    return avx512_works() && (!past || ((uintptr_t)rgba | 4 * (uintptr_t)width) % 64 == 0);
}
