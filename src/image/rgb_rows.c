// rgb_rows.c: rows of RGB to RGBA, and rows of RGBA mirrored, in the level that this file is compiled for
#include "image/rgb_rows.h"

#include "base/vector.h"

// `blue_first` is a constant where this is inlined.
VECTOR_INLINE void make_opaque(const uint8_t *from, bool blue_first, uint8_t *rgba, int width)
{
    const int red = blue_first ? 2 : 0;
    int x = 0;
#if VECTOR_BYTES
    for (; x + VECTOR_BYTES <= width; x += VECTOR_BYTES)
        vec_store_rgb24(rgba + 4 * x, from + 3 * x, blue_first);
#endif
    for (; x < width; x++) {
        rgba[4 * x] = from[3 * x + red];
        rgba[4 * x + 1] = from[3 * x + 1];
        rgba[4 * x + 2] = from[3 * x + 2 - red];
        rgba[4 * x + 3] = 255;
    }
}

static void make_rgb24(const uint8_t *from, bool blue_first, uint8_t *rgba, int width)
{
    if (blue_first)
        make_opaque(from, true, rgba, width);
    else
        make_opaque(from, false, rgba, width);
}

// Takes blocks from both ends, so that a row can be mirrored in place.
static void mirror(const uint8_t *from, uint8_t *to, int width)
{
    int x = 0;
#if VECTOR_BYTES
    enum { VECTORS_A_BLOCK = 4, BLOCK = VECTORS_A_BLOCK * VECTOR_BYTES / 4 };
    for (; 2 * (x + BLOCK) <= width; x += BLOCK) {
        const int right = width - x - BLOCK;
        vec_u32 a[VECTORS_A_BLOCK], b[VECTORS_A_BLOCK];
        for (int i = 0; i < VECTORS_A_BLOCK; i++) {
            a[i] = vec_load_u32(from + 4 * x + VECTOR_BYTES * i);
            b[i] = vec_load_u32(from + 4 * right + VECTOR_BYTES * i);
        }
        for (int i = 0; i < VECTORS_A_BLOCK; i++) {
            vec_store_u32(to + 4 * x + VECTOR_BYTES * i, vec_reverse_u32(b[VECTORS_A_BLOCK - 1 - i]));
            vec_store_u32(to + 4 * right + VECTOR_BYTES * i, vec_reverse_u32(a[VECTORS_A_BLOCK - 1 - i]));
        }
    }
#endif
    const pixel_word *pixels = (const pixel_word *)from;
    pixel_word *mirrored = (pixel_word *)to;
    for (int right = width - 1 - x; x <= right; x++, right--) {
        const uint32_t kept = pixels[x];
        mirrored[x] = pixels[right];
        mirrored[right] = kept;
    }
}

const struct rgb_rows VECTORS_NAME(rgb_rows) = {make_rgb24, mirror};
