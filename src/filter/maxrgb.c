// maxrgb.c: keep a pixel's strongest channel
#include "filter/filter.h"
#include "filter/row_maps.h"
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
// Each byte is held against the pixel's others, alpha against itself, in half the instructions.
AVX2_INLINE __m256i keep_strongest(__m256i pixels, const void *numbers)
{
    const __m256i next =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(1, 2, 0, 3, 5, 6, 4, 7, 9, 10, 8, 11, 13, 14, 12, 15));
    const __m256i second = _mm256_shuffle_epi8(pixels, next);
    const __m256i others = _mm256_max_epu8(second, _mm256_shuffle_epi8(second, next));
    return _mm256_and_si256(pixels, _mm256_cmpeq_epi8(pixels, _mm256_max_epu8(pixels, others)));
}

AVX512_INLINE __m512i keep_strongest_wide(__m512i pixels, const void *numbers)
{
    const __m512i next = _mm512_broadcast_i32x4(_mm_setr_epi8(1, 2, 0, 3, 5, 6, 4, 7, 9, 10, 8, 11, 13, 14, 12, 15));
    const __m512i second = _mm512_shuffle_epi8(pixels, next);
    const __m512i others = _mm512_max_epu8(second, _mm512_shuffle_epi8(second, next));
    return _mm512_maskz_mov_epi8(_mm512_cmpge_epu8_mask(pixels, others), pixels);
}
#endif
ROW_MAP(strongest_vector, keep_strongest, keep_strongest_wide)

static void point_row(const struct filter_arguments *arguments, const uint8_t *from, uint8_t *to, int width, bool past)
{
    const int done = strongest_vector(NULL, from, to, width, past);
    strongest((const pixel_word *)from, (pixel_word *)to, done, width);
}

extern const struct filter filter_maxrgb;
const struct filter filter_maxrgb = {
    .name = "maxrgb",
    .summary = "keep each pixel's largest channels, set the others to 0",
    .example = "maxrgb",
    .kind = FILTER_POINT,
    .kernel = "maxrgb.cl",
    .point_row = point_row,
};
