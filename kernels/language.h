// language.h: definitions that make C11 the kernel language (docs/architecture.md)
//
// Each file that compiles filters as C includes this file once (src/filter/rows.c).
#pragma once

#include <math.h>
#include <stdint.h>

#define INLINE static inline __attribute__((always_inline, unused))
#define UNROLL
#define STRUCT(name) typedef struct name name;

typedef struct {
    int r, g, b, a;
} pixel;

typedef uint64_t wide; // not in GLSL

typedef const int32_t *arguments;
#define ARG(args, i) ((args)[i])

INLINE int min(int a, int b)
{
    return a < b ? a : b;
}

INLINE int max(int a, int b)
{
    return a > b ? a : b;
}

INLINE int clamp(int value, int low, int high)
{
    return min(max(value, low), high);
}

// As in language.cl. sqrtf is correctly rounded.
INLINE int root(int n)
{
    return (int)(__builtin_sqrtf((float)n) + 0.5f);
}

// As in language.cl.
INLINE int quotient(int n, int d)
{
    return (int)(((float)n + 0.5f) / (float)d);
}

// Promises the compiler that no iteration of the next loop depends on another.
#if defined(__clang__)
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif

// The pixel of four bytes in memory, and the reverse.
INLINE pixel pixel_of(uint32_t word)
{
    return (pixel){word & 255, word >> 8 & 255, word >> 16 & 255, (int)(word >> 24)};
}

INLINE uint32_t word_of(pixel p)
{
    return (uint32_t)(p.r | p.g << 8 | p.b << 16) | (uint32_t)p.a << 24;
}

// A stencil's input around one channel of one pixel: row[dy] is the row that lies dy rows below the pixel's row, and
// `at` is the index of the channel's byte in these rows. Neighbours in a row are `step` bytes apart. (x, y): the
// pixel's place, only for users' filters.
typedef struct {
    const uint8_t *const *row;
    int at, step, radius, x, y;
} view;

#define RADIUS(v) ((v).radius)
#define tap(v, dx, dy) ((int)(v).row[dy][(v).at + (v).step * (dx)])
