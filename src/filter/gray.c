// gray.c: colour to grey, by luma or by the plain average
#include "filter/filter.h"
#include "filter/row_maps.h"
#include "filter/rows.h"

#include <string.h>

enum { MODE_LUMA, MODE_AVERAGE };

static const struct param params[] = {
    {.name = "mode",
     .type = PARAM_CHOICE,
     .max = 1,
     .step = 1,
     .choices = "luma|average",
     .help = "Rec. 601 luma, or the average of the three channels"},
    {0},
};

// Weights of red, green and blue, what is added, bits that are cut off. The average's third is exact here: it is off by
// less than 766 / 98304.
enum { WEIGHTS = 5 };
static const int32_t weights[][WEIGHTS] = {
    [MODE_LUMA] = {77, 150, 29, 128, 8},
    [MODE_AVERAGE] = {21846, 21846, 21846, 21846, 16},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    memcpy(arguments->value, weights[(int)values->value[0]], sizeof(weights[0]));
    arguments->count = WEIGHTS;
    return true;
}

VECTOR_CLONES static void luma_row(const pixel_word *from, pixel_word *to, int first, int width)
{
    VECTOR_LOOP
    for (int x = first; x < width; x++)
        to[x] = (from[x] & 0xff000000u) | row_luma(from[x]) * 0x010101u;
}

#ifdef HAVE_AVX2
AVX2_INLINE __m256i spread_luma(__m256i pixels, const void *numbers)
{
    const __m256i luma = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(1, 1, 1, -1, 5, 5, 5, -1, 9, 9, 9, -1, 13, 13, 13, -1)); // bits 8..15 of the sum
    const __m256i alpha = _mm256_set1_epi32((int32_t)0xff000000u);
    return _mm256_or_si256(_mm256_shuffle_epi8(row_luma_avx2(pixels), luma), _mm256_and_si256(pixels, alpha));
}

AVX512_INLINE __m512i spread_luma_wide(__m512i pixels, const void *numbers)
{
    const __m512i luma =
        _mm512_set_epi32(0x0d0d0d, 0x090909, 0x050505, 0x010101, 0x0d0d0d, 0x090909, 0x050505, 0x010101, 0x0d0d0d,
                         0x090909, 0x050505, 0x010101, 0x0d0d0d, 0x090909, 0x050505, 0x010101);
    return _mm512_mask_shuffle_epi8(pixels, ROW_COLOURS, row_luma_avx512(pixels), luma);
}
#endif
ROW_MAP(luma_vector, spread_luma, spread_luma_wide)

VECTOR_CLONES static void average_row(const pixel_word *from, pixel_word *to, int width)
{
    VECTOR_LOOP
    for (int x = 0; x < width; x++) {
        const uint32_t w = from[x], sum = (w & 255) + (w >> 8 & 255) + (w >> 16 & 255) + 1;
        to[x] = (w & 0xff000000u) | (sum * 21846u >> 16) * 0x010101u;
    }
}

static void point_row(const struct filter_arguments *arguments, const uint8_t *from, uint8_t *to, int width, bool past)
{
    const pixel_word *pixels = (const pixel_word *)from;
    pixel_word *result = (pixel_word *)to;
    if (arguments->value[0] == weights[MODE_AVERAGE][0])
        average_row(pixels, result, width);
    else
        luma_row(pixels, result, luma_vector(NULL, from, to, width, past), width);
}

extern const struct filter filter_gray;
const struct filter filter_gray = {
    .name = "gray",
    .summary = "turn colour to grey",
    .example = "gray=average",
    .kind = FILTER_POINT,
    .color = FILTER_MAKES_GREY,
    .params = params,
    .kernel = "gray.cl",
    .prepare = prepare,
    .point_row = point_row,
};
