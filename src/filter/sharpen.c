// sharpen.c: a pixel pushed away from its four neighbours
#include "filter/filter.h"
#include "filter/rows.h"
#include "filter/stencil_avx2.h"

#include <math.h>

static const struct param params[] = {
    {"amount", PARAM_REAL, .max = 8, .preset = 1, .step = 0.25f, .help = "strength; 0 has no effect"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->radius = 1;
    arguments->count = 1;
    arguments->value[0] = (int32_t)floor(values->value[0] * 256.0 + 0.5);
    return true;
}

VECTOR_CLONES static void push_row(int amount, const uint8_t *restrict above, const uint8_t *restrict here,
                                   const uint8_t *restrict below, uint8_t *restrict to, int step, int first, int lanes)
{
    for (int i = first; i < lanes; i++) {
        const int away = 4 * here[i] - above[i] - here[i + step] - below[i] - here[i - step];
        to[i] = (uint8_t)sat8(here[i] + ((amount * away + 128) >> 8));
    }
}

#ifdef HAVE_AVX2
// Of the bytes of pairs, in 16-bit lanes: 32 times what the centre is away from its neighbours fits, and its product
// with 4 times the amount is rounded and shifted by the same instruction.
AVX2_INLINE __m256i push(__m256i here, __m256i vertical, __m256i horizontal, __m256i amount)
{
    const __m256i thirty_two = _mm256_set1_epi8(32);
    const __m256i around =
        _mm256_add_epi16(_mm256_maddubs_epi16(vertical, thirty_two), _mm256_maddubs_epi16(horizontal, thirty_two));
    const __m256i away = _mm256_sub_epi16(_mm256_slli_epi16(here, 7), around);
    return _mm256_add_epi16(here, _mm256_mulhrs_epi16(away, amount));
}

AVX2_INLINE __m256i push_away(const uint8_t *const *in, int at, int step, const void *numbers)
{
    const __m256i amount = _mm256_set1_epi16((int16_t)(4 * *(const int32_t *)numbers)), zero = _mm256_setzero_si256();
    const __m256i above = avx2_load_once(in[0] + at), here = avx2_load_once(in[1] + at),
                  below = avx2_load_once(in[2] + at);
    const __m256i left = avx2_load_once(in[1] + at - step), right = avx2_load_once(in[1] + at + step);
    const __m256i low = push(_mm256_unpacklo_epi8(here, zero), _mm256_unpacklo_epi8(above, below),
                             _mm256_unpacklo_epi8(left, right), amount);
    const __m256i high = push(_mm256_unpackhi_epi8(here, zero), _mm256_unpackhi_epi8(above, below),
                              _mm256_unpackhi_epi8(left, right), amount);
    return _mm256_packus_epi16(low, high);
}

AVX2 static int push_avx2(int32_t amount, const struct stencil_rows *rows)
{
    return stencil_map_avx2(push_away, &amount, rows);
}
#endif

static void stencil_row(const struct filter_arguments *arguments, const struct stencil_rows *rows)
{
    const int done = AVX2_MADE(push_avx2(arguments->value[0], rows));
    push_row(arguments->value[0], rows->in[0], rows->in[1], rows->in[2], rows->out[0], rows->pixel_bytes, done,
             rows->pixel_bytes * rows->width);
    row_copy_alpha(rows, 0, done / rows->pixel_bytes);
}

extern const struct filter filter_sharpen;
const struct filter filter_sharpen = {
    .name = "sharpen",
    .summary = "sharpen edges",
    .example = "sharpen=1.5",
    .kind = FILTER_STENCIL,
    .params = params,
    .prepare = prepare,
    .stencil_row = stencil_row,
    .grey_rows = true,
};
