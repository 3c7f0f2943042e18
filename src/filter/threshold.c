// threshold.c: black and white by luma
#include "filter/filter.h"
#include "filter/row_maps.h"
#include "filter/rows.h"

static const struct param params[] = {
    {.name = "level",
     .type = PARAM_INT,
     .max = 255,
     .preset = 128,
     .step = 4,
     .help = "luma from which a pixel is white"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->count = 1;
    arguments->value[0] = (int32_t)values->value[0];
    return true;
}

VECTOR_CLONES static void split(uint32_t level, const pixel_word *from, pixel_word *to, int first, int width)
{
    VECTOR_LOOP
    for (int x = first; x < width; x++) {
        const uint32_t w = from[x];
        to[x] = (w & 0xff000000u) | (row_luma(w) >= level ? 0xffffffu : 0);
    }
}

#ifdef HAVE_AVX2
AVX2_INLINE __m256i split_luma(__m256i pixels, const void *below)
{
    const __m256i white = _mm256_cmpgt_epi32(row_luma_avx2(pixels), _mm256_set1_epi32(*(const int32_t *)below));
    return _mm256_blendv_epi8(white, pixels, _mm256_set1_epi32((int32_t)0xff000000u));
}

AVX512_INLINE __m512i split_luma_wide(__m512i pixels, const void *below)
{
    const __mmask16 white =
        _mm512_cmpgt_epi32_mask(row_luma_avx512(pixels), _mm512_set1_epi32(*(const int32_t *)below));
    return _mm512_mask_blend_epi8(ROW_COLOURS, pixels, _mm512_movm_epi32(white));
}
#endif
ROW_MAP(split_vector, split_luma, split_luma_wide)

static void point_row(const struct filter_arguments *arguments, const uint8_t *from, uint8_t *to, int width, bool past)
{
    const int level = arguments->value[0];
    const int32_t below = (level << 8) - 1; // luma is in bits 8..15
    const int done = split_vector(&below, from, to, width, past);
    split((uint32_t)level, (const pixel_word *)from, (pixel_word *)to, done, width);
}

extern const struct filter filter_threshold;
const struct filter filter_threshold = {
    .name = "threshold",
    .summary = "black and white, split at a level of luma",
    .example = "threshold=100",
    .kind = FILTER_POINT,
    .color = FILTER_MAKES_GREY,
    .params = params,
    .kernel = "threshold.cl",
    .prepare = prepare,
    .point_row = point_row,
};
