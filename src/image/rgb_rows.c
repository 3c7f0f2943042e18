// rgb_rows.c: converts rows of RGB to RGBA, and mirrors rows of RGBA; compiled once per instruction set
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

// Reads from left to right, because processors prefetch in this direction.
static void mirror_row(const pixel_word *restrict from, pixel_word *restrict to, int width)
{
    int x = 0;
#if VECTOR_BYTES
    enum { LANES = VECTOR_BYTES / 4, BLOCK = 4 * LANES, FETCH_TO_WRITE_DISTANCE = 2048 / 4 };
    for (; x + BLOCK <= width; x += BLOCK) {
        pixel_word *place = to + width - x;
        for (int i = 0; i < BLOCK; i += CACHE_LINE / 4)
            vec_fetch_to_write(place - i - FETCH_TO_WRITE_DISTANCE);
        for (int i = 0; i < BLOCK; i += LANES)
            vec_store_u32(place - LANES - i, vec_reverse_u32(vec_load_u32(from + x + i)));
    }
#endif
    for (; x < width; x++)
        to[width - 1 - x] = from[x];
}

static void mirror_in_place(pixel_word *row, int width)
{
    int x = 0;
#if VECTOR_BYTES
    enum { LANES = VECTOR_BYTES / 4 };
    for (; 2 * (x + LANES) <= width; x += LANES) {
        const vec_u32 left = vec_load_u32(row + x), right = vec_load_u32(row + width - LANES - x);
        vec_store_u32(row + x, vec_reverse_u32(right));
        vec_store_u32(row + width - LANES - x, vec_reverse_u32(left));
    }
#endif
    for (; x < width - 1 - x; x++) {
        const uint32_t left = row[x];
        row[x] = row[width - 1 - x];
        row[width - 1 - x] = left;
    }
}

static void mirror(const uint8_t *from, uint8_t *to, int width)
{
    if (from == to)
        mirror_in_place((pixel_word *)to, width);
    else
        mirror_row((const pixel_word *)from, (pixel_word *)to, width);
}

const struct rgb_rows VECTORS_NAME(rgb_rows) = {make_rgb24, mirror};
