// rgb_rows.c: rows of RGB and RGBA to RGBA
#include "image/rgb_rows.h"

#include "base/avx2.h"
#include "base/clones.h"

#include <string.h>

#ifdef HAVE_AVX2

enum { LANES = 8, BLOCK = 16 }; // pixels of a vector, and of a line of cache

// 8 pixels of 3 bytes each.
AVX2_INLINE __m256i load24(const uint8_t *from, __m256i places)
{
    const __m256i bytes = _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128((const __m128i *)from)),
                                                  _mm_loadu_si128((const __m128i *)(from + 8)), 1);
    return _mm256_or_si256(_mm256_shuffle_epi8(bytes, places), _mm256_set1_epi32((int32_t)0xff000000u));
}

// As many pixels as fit, and how many that is.
AVX2 static int rgb24_avx2(const uint8_t *from, bool red_first, uint8_t *rgba, int width, bool past)
{
    const __m256i red_places = _mm256_setr_epi8(0, 1, 2, -1, 3, 4, 5, -1, 6, 7, 8, -1, 9, 10, 11, -1, 4, 5, 6, -1, 7, 8,
                                                9, -1, 10, 11, 12, -1, 13, 14, 15, -1);
    const __m256i blue_places = _mm256_setr_epi8(2, 1, 0, -1, 5, 4, 3, -1, 8, 7, 6, -1, 11, 10, 9, -1, 6, 5, 4, -1, 9,
                                                 8, 7, -1, 12, 11, 10, -1, 15, 14, 13, -1);
    const __m256i places = red_first ? red_places : blue_places;
    int x = 0;
    for (; x + BLOCK <= width; x += BLOCK) {
        if (past)
            avx2_fetch_once(from + 3 * x);
        else
            avx2_fetch_to_write(rgba + 4 * x);
        avx2_store_past(rgba + 4 * x, load24(from + 3 * x, places), past);
        avx2_store_past(rgba + 4 * (x + LANES), load24(from + 3 * (x + LANES), places), past);
    }
    return x;
}

// Has the row that is read next fetched ahead, as far as this one has been read: processors see no row coming that does
// not follow in memory.
AVX2_INLINE void fetch_next(const uint8_t *next, int x)
{
    if (next)
        __builtin_prefetch(next + 4 * x);
}

AVX2 static int copy_avx2(const uint8_t *from, const uint8_t *next, uint8_t *to, int width, bool past)
{
    int x = 0;
    for (; x + BLOCK <= width; x += BLOCK) {
        fetch_next(next, x);
        if (!past)
            avx2_fetch_to_write(to + 4 * x);
        else if (!next)
            avx2_fetch_once(from + 4 * x);
        avx2_store_past(to + 4 * x, avx2_load(from + 4 * x), past);
        avx2_store_past(to + 4 * (x + LANES), avx2_load(from + 4 * (x + LANES)), past);
    }
    return x;
}

AVX2_INLINE __m256i load_turned(const uint8_t *from)
{
    return _mm256_permutevar8x32_epi32(avx2_load(from), _mm256_setr_epi32(7, 6, 5, 4, 3, 2, 1, 0));
}

AVX2 static int turn_avx2(const uint8_t *from, const uint8_t *next, uint8_t *to, int width, bool past)
{
    int x = 0;
    for (; x + BLOCK <= width; x += BLOCK) {
        const uint8_t *end = from + 4 * (width - x);
        fetch_next(next, x);
        if (!past)
            avx2_fetch_to_write(to + 4 * x);
        avx2_store_past(to + 4 * x, load_turned(end - 4 * LANES), past);
        avx2_store_past(to + 4 * (x + LANES), load_turned(end - 4 * BLOCK), past);
    }
    return x;
}
#endif

void rgb24_row(const uint8_t *from, bool red_first, uint8_t *rgba, int width, bool past)
{
    const int red = red_first ? 0 : 2;
    for (int x = AVX2_MADE(rgb24_avx2(from, red_first, rgba, width, past)); x < width; x++) {
        rgba[4 * x] = from[3 * x + red];
        rgba[4 * x + 1] = from[3 * x + 1];
        rgba[4 * x + 2] = from[3 * x + 2 - red];
        rgba[4 * x + 3] = 255;
    }
}

void rgba_row_copy(const uint8_t *from, const uint8_t *next, uint8_t *to, int width, bool past)
{
    const int done = AVX2_MADE(copy_avx2(from, next, to, width, past));
    memcpy(to + 4 * done, from + 4 * done, 4 * (size_t)(width - done));
}

VECTOR_CLONES static void exchange_pixels(pixel_word *restrict left, pixel_word *restrict right, int count)
{
    for (int i = 0; i < count; i++) {
        const uint32_t kept = left[i];
        left[i] = right[count - 1 - i];
        right[count - 1 - i] = kept;
    }
}

VECTOR_CLONES static void turn_pixels(const pixel_word *restrict from, pixel_word *restrict to, int first, int width)
{
    for (int x = first; x < width; x++)
        to[x] = from[width - 1 - x];
}

void rgba_row_turn(const uint8_t *from, const uint8_t *next, uint8_t *to, int width, bool past)
{
    pixel_word *pixels = (pixel_word *)to;
    if (from == to)
        exchange_pixels(pixels, pixels + (width + 1) / 2, width / 2);
    else
        turn_pixels((const pixel_word *)from, pixels, AVX2_MADE(turn_avx2(from, next, to, width, past)), width);
}
