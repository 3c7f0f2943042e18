// sepia.c: the brown of old photographs
#include "filter/filter.h"
#include "filter/row_maps.h"
#include "filter/rows.h"

// The usual sepia matrix (0.393 0.769 0.189 / 0.349 0.686 0.168 / 0.272 0.534 0.131) in 7 bits of fraction.
VECTOR_CLONES static void brown(const pixel_word *from, pixel_word *to, int first, int width)
{
    VECTOR_LOOP
    for (int x = first; x < width; x++) {
        const uint32_t w = from[x];
        const int r = w & 255, g = w >> 8 & 255, b = w >> 16 & 255;
        const uint32_t red = (uint32_t)row_sat8((50 * r + 98 * g + 24 * b + 64) >> 7);
        const uint32_t green = (uint32_t)row_sat8((45 * r + 88 * g + 22 * b + 64) >> 7);
        const uint32_t blue = (uint32_t)row_sat8((35 * r + 68 * g + 17 * b + 64) >> 7);
        to[x] = (w & 0xff000000u) | blue << 16 | green << 8 | red;
    }
}

#ifdef HAVE_AVX2
AVX2_INLINE __m256i mix_brown(__m256i pixels, const void *numbers)
{
    const __m256i order =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 8, 4, 12, 1, 9, 5, 13, 2, 10, 6, 14, 3, 11, 7, 15));
    const __m256i red = _mm256_srli_epi32(row_weigh_avx2(pixels, 50, 98, 24, 64), 7);
    const __m256i green = _mm256_srli_epi32(row_weigh_avx2(pixels, 45, 88, 22, 64), 7);
    const __m256i blue = _mm256_srli_epi32(row_weigh_avx2(pixels, 35, 68, 17, 64), 7);
    const __m256i red_blue = _mm256_packs_epi32(red, blue);
    const __m256i green_alpha = _mm256_packs_epi32(green, _mm256_srli_epi32(pixels, 24));
    return _mm256_shuffle_epi8(_mm256_packus_epi16(red_blue, green_alpha), order);
}

AVX512_INLINE __m512i mix_brown_wide(__m512i pixels, const void *numbers)
{
    const __m512i order = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 8, 4, 12, 1, 9, 5, 13, 2, 10, 6, 14, 3, 11, 7, 15));
    const __m512i red = _mm512_srli_epi32(row_weigh_avx512(pixels, 50, 98, 24, 64), 7);
    const __m512i green = _mm512_srli_epi32(row_weigh_avx512(pixels, 45, 88, 22, 64), 7);
    const __m512i blue = _mm512_srli_epi32(row_weigh_avx512(pixels, 35, 68, 17, 64), 7);
    const __m512i red_blue = _mm512_packs_epi32(red, blue);
    const __m512i green_alpha = _mm512_packs_epi32(green, _mm512_srli_epi32(pixels, 24));
    return _mm512_shuffle_epi8(_mm512_packus_epi16(red_blue, green_alpha), order);
}
#endif
ROW_MAP(brown_vector, mix_brown, mix_brown_wide)

static void point_row(const struct filter_arguments *arguments, const uint8_t *from, uint8_t *to, int width, bool past)
{
    const int done = brown_vector(NULL, from, to, width, past);
    brown((const pixel_word *)from, (pixel_word *)to, done, width);
}

extern const struct filter filter_sepia;
const struct filter filter_sepia = {
    .name = "sepia",
    .summary = "the brown of old photographs",
    .example = "sepia",
    .kind = FILTER_POINT,
    .color = FILTER_COLORS,
    .kernel = "sepia.cl",
    .point_row = point_row,
};
