// invert.c: the photographic negative
#include "filter/filter.h"
#include "filter/rows.h"
#include "filter/rows_avx2.h"

VECTOR_CLONES static void negative(const pixel_word *from, pixel_word *to, int first, int width)
{
    VECTOR_LOOP
    for (int x = first; x < width; x++)
        to[x] = from[x] ^ 0x00ffffffu;
}

#ifdef HAVE_AVX2
AVX2_INLINE __m256i turn_colours(__m256i pixels, const void *numbers)
{
    return _mm256_xor_si256(pixels, _mm256_set1_epi32(0x00ffffff));
}
#endif
ROW_MAP(negative_avx2, turn_colours)

static void point_row(const struct filter_arguments *arguments, const uint8_t *from, uint8_t *to, int width, bool past)
{
    const int done = avx2_works() ? negative_avx2(from, to, width, past) : 0;
    negative((const pixel_word *)from, (pixel_word *)to, done, width);
}

extern const struct filter filter_invert;
const struct filter filter_invert = {
    .name = "invert",
    .summary = "photographic negative",
    .example = "invert",
    .kind = FILTER_POINT,
    .kernel = "invert.cl",
    .point_row = point_row,
};
