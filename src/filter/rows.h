// rows.h: what the CPU row functions share
#pragma once

#include <stddef.h>
#include <stdint.h>

// Compiled once more for processors with AVX2 and chosen when the program starts; the same C either way. Sanitizers
// cannot run the resolvers that choose, so their builds have the plain one alone.
#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) &&               \
    !defined(__SANITIZE_THREAD__)
#define ROW_CLONES __attribute__((target_clones("arch=x86-64-v3", "default")))
#else
#define ROW_CLONES
#endif

static inline int row_sat8(int value)
{
    return value < 0 ? 0 : value > 255 ? 255 : value;
}

// Rec. 601 luma as docs/pixels.md defines it.
static inline int row_luma(const uint8_t *p)
{
    return (77 * p[0] + 150 * p[1] + 29 * p[2] + 128) >> 8;
}

// Gives an output row the alpha of its centre row.
static inline void row_copy_alpha(uint8_t *restrict rgba, const uint8_t *restrict centre, int width)
{
    for (int x = 0; x < width; x++)
        rgba[4 * x + 3] = centre[4 * x + 3];
}
