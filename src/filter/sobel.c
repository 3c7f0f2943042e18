// sobel.c: strength of edges
#include "filter/filter.h"
#include "filter/rows.h"
#include "filter/stencil_avx2.h"

#include <math.h>

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->radius = 1;
    return true;
}

// The integer nearest to the root: up to 255 a root is at least 4.9e-4 away from every half, so that float is exact.
VECTOR_CLONES static void gradient_row(const uint8_t *restrict above, const uint8_t *restrict here,
                                       const uint8_t *restrict below, uint8_t *restrict to, int step, int first,
                                       int lanes)
{
    for (int i = first; i < lanes; i++) {
        const int left = i - step, right = i + step;
        const int16_t gx =
            (int16_t)(above[right] - above[left] + 2 * (here[right] - here[left]) + below[right] - below[left]);
        const int16_t gy =
            (int16_t)(below[left] - above[left] + 2 * (below[i] - above[i]) + below[right] - above[right]);
        const int root = (int)(sqrtf((float)(gx * gx + gy * gy)) + 0.5f);
        to[i] = (uint8_t)(root > 255 ? 255 : root);
    }
}

#ifdef HAVE_AVX2
// Of 8 pairs of slopes.
AVX2_INLINE __m256i length(__m256i slopes)
{
    return _mm256_cvtps_epi32(_mm256_sqrt_ps(_mm256_cvtepi32_ps(_mm256_madd_epi16(slopes, slopes))));
}

AVX2_INLINE __m256i lengths(__m256i across, __m256i down)
{
    return _mm256_packs_epi32(length(_mm256_unpacklo_epi16(across, down)), length(_mm256_unpackhi_epi16(across, down)));
}

AVX2_INLINE __m256i find_gradient(const uint8_t *const *in, int at, int step, const void *numbers)
{
    const __m256i nw = avx2_load(in[0] + at - step), n = avx2_load(in[0] + at), ne = avx2_load(in[0] + at + step);
    const __m256i w = avx2_load(in[1] + at - step), e = avx2_load(in[1] + at + step);
    const __m256i sw = avx2_load(in[2] + at - step), s = avx2_load(in[2] + at), se = avx2_load(in[2] + at + step);
    const __m256i low = lengths(
        row_differ3_avx2(_mm256_unpacklo_epi8(ne, nw), _mm256_unpacklo_epi8(e, w), _mm256_unpacklo_epi8(se, sw), 2),
        row_differ3_avx2(_mm256_unpacklo_epi8(sw, nw), _mm256_unpacklo_epi8(s, n), _mm256_unpacklo_epi8(se, ne), 2));
    const __m256i high = lengths(
        row_differ3_avx2(_mm256_unpackhi_epi8(ne, nw), _mm256_unpackhi_epi8(e, w), _mm256_unpackhi_epi8(se, sw), 2),
        row_differ3_avx2(_mm256_unpackhi_epi8(sw, nw), _mm256_unpackhi_epi8(s, n), _mm256_unpackhi_epi8(se, ne), 2));
    return _mm256_packus_epi16(low, high);
}

AVX2 static int gradient_avx2(const struct stencil_rows *rows)
{
    return stencil_map_avx2(find_gradient, NULL, rows);
}
#endif

static void stencil_row(const struct filter_arguments *arguments, const struct stencil_rows *rows)
{
    const int done = AVX2_MADE(gradient_avx2(rows));
    gradient_row(rows->in[0], rows->in[1], rows->in[2], rows->out[0], rows->pixel_bytes, done,
                 rows->pixel_bytes * rows->width);
    row_copy_alpha(rows, 0, done / rows->pixel_bytes);
}

extern const struct filter filter_sobel;
const struct filter filter_sobel = {
    .name = "sobel",
    .summary = "edge detection: Sobel gradient magnitude",
    .example = "gray,sobel",
    .kind = FILTER_STENCIL,
    .prepare = prepare,
    .stencil_row = stencil_row,
    .grey_rows = true,
};
