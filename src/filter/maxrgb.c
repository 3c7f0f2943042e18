// maxrgb.c: keep a pixel's strongest channel
#include "base/avx2.h"
#include "filter/filter.h"
#include "filter/rows.h"

// Channels stay where they are in the word, which compilers vectorise; bytes they would not.
VECTOR_CLONES static void strongest(const pixel_word *from, pixel_word *to, int first, int width)
{
    VECTOR_LOOP
    for (int x = first; x < width; x++) {
        const uint32_t w = from[x], r = w & 255, g = w >> 8 & 255, b = w >> 16 & 255;
        const uint32_t larger = r > g ? r : g, largest = larger > b ? larger : b;
        to[x] = (w & 0xff000000u) | (r == largest ? w & 0xffu : 0) | (g == largest ? w & 0xff00u : 0) |
                (b == largest ? w & 0xff0000u : 0);
    }
}

#ifdef HAVE_AVX2
// The same for as many pixels as fit, and how many that is: each byte is held against the pixel's others, alpha against
// itself, in half the instructions.
AVX2 static int strongest_avx2(const pixel_word *from, pixel_word *to, int width, bool past)
{
    const __m256i next =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(1, 2, 0, 3, 5, 6, 4, 7, 9, 10, 8, 11, 13, 14, 12, 15));
    int x = 0;
    for (; x + 8 <= width; x += 8) {
        if (!past)
            avx2_fetch_to_write(to + x);
        const __m256i pixels = avx2_load(from + x), second = _mm256_shuffle_epi8(pixels, next);
        const __m256i others = _mm256_max_epu8(second, _mm256_shuffle_epi8(second, next));
        const __m256i kept = _mm256_cmpeq_epi8(pixels, _mm256_max_epu8(pixels, others));
        avx2_store_past(to + x, _mm256_and_si256(pixels, kept), past);
    }
    return x;
}
#else
static int strongest_avx2(const pixel_word *from, pixel_word *to, int width, bool past)
{
    return 0;
}
#endif

static void make_row(const uint8_t *from, uint8_t *to, int width, bool past)
{
    const pixel_word *pixels = (const pixel_word *)from;
    pixel_word *result = (pixel_word *)to;
    strongest(pixels, result, avx2_works() ? strongest_avx2(pixels, result, width, past) : 0, width);
}

static void point_row(const struct filter_arguments *arguments, const uint8_t *from, uint8_t *to, int width)
{
    make_row(from, to, width, false);
}

static void point_row_past(const struct filter_arguments *arguments, const uint8_t *from, uint8_t *to, int width)
{
    make_row(from, to, width, true);
}

extern const struct filter filter_maxrgb;
const struct filter filter_maxrgb = {
    .name = "maxrgb",
    .summary = "keep each pixel's largest channels, set the others to 0",
    .example = "maxrgb",
    .kind = FILTER_POINT,
    .kernel = "maxrgb.cl",
    .point_row = point_row,
    .point_row_past = point_row_past,
};
