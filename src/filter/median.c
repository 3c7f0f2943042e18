// median.c: the middle of nine, which removes specks and keeps edges
#include "filter/filter.h"
#include "filter/rows.h"
#include "filter/stencil_avx2.h"

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->radius = 1;
    return true;
}

static inline uint8_t lower(uint8_t a, uint8_t b)
{
    return a < b ? a : b;
}

static inline uint8_t upper(uint8_t a, uint8_t b)
{
    return a > b ? a : b;
}

static inline uint8_t middle(uint8_t a, uint8_t b, uint8_t c)
{
    return upper(lower(a, b), lower(upper(a, b), c));
}

// With each column sorted, the median of nine is the middle of: the largest low, the middle middle, the smallest high.
VECTOR_CLONES static void median_row(const uint8_t *restrict above, const uint8_t *restrict here,
                                     const uint8_t *restrict below, uint8_t *restrict to, int step, int first,
                                     int lanes)
{
    for (int i = first; i < lanes; i++) {
        uint8_t low[3], mid[3], high[3];
        for (int k = 0; k < 3; k++) {
            const int at = i + step * (k - 1);
            const uint8_t a = above[at], b = here[at], c = below[at];
            low[k] = lower(lower(a, b), c);
            high[k] = upper(upper(a, b), c);
            mid[k] = middle(a, b, c);
        }
        to[i] = middle(upper(upper(low[0], low[1]), low[2]), middle(mid[0], mid[1], mid[2]),
                       lower(lower(high[0], high[1]), high[2]));
    }
}

#ifdef HAVE_AVX2
AVX2_INLINE __m256i middle_avx2(__m256i a, __m256i b, __m256i c)
{
    return _mm256_max_epu8(_mm256_min_epu8(a, b), _mm256_min_epu8(_mm256_max_epu8(a, b), c));
}

// A column of three, sorted.
struct column {
    __m256i low, mid, high;
};

// Of a value and two that are in order.
AVX2_INLINE struct column sort_column(__m256i value, __m256i less, __m256i more)
{
    const __m256i rest = _mm256_min_epu8(more, value);
    return (struct column){_mm256_min_epu8(less, value), _mm256_max_epu8(less, rest), _mm256_max_epu8(more, value)};
}

AVX2_INLINE __m256i find_median(const struct column column[3])
{
    const __m256i low = _mm256_max_epu8(_mm256_max_epu8(column[0].low, column[1].low), column[2].low);
    const __m256i high = _mm256_min_epu8(_mm256_min_epu8(column[0].high, column[1].high), column[2].high);
    return middle_avx2(low, middle_avx2(column[0].mid, column[1].mid, column[2].mid), high);
}

// Both rows, as many bytes as fit, and how many that is. The squares of both share two rows, sorted once.
AVX2 static int median_avx2(const struct stencil_rows *rows)
{
    enum { BLOCK = 32 };
    const __m256i alpha = _mm256_set1_epi32(rows->pixel_bytes == 4 ? (int32_t)0xff000000u : 0);
    const uint8_t *in[4] = {rows->in[0], rows->in[1], rows->in[2], rows->in[3]};
    const struct next_rows next = rows->next; // a copy, which no store can change
    uint8_t *out = rows->out[0], *below = rows->out[1];
    const int step = rows->pixel_bytes, bytes = step * rows->width;
    int i = 0;
    for (; i + BLOCK <= bytes; i += BLOCK) {
        row_fetch_next(&next, 2, i);
        struct column upper[3], lower[3];
#pragma GCC unroll 3
        for (int k = 0; k < 3; k++) {
            const int at = i + step * (k - 1);
            const __m256i b = avx2_load(in[1] + at), c = avx2_load(in[2] + at);
            const __m256i less = _mm256_min_epu8(b, c), more = _mm256_max_epu8(b, c);
            upper[k] = sort_column(avx2_load(in[0] + at), less, more);
            lower[k] = sort_column(avx2_load(in[3] + at), less, more);
        }
        avx2_store(out + i, _mm256_blendv_epi8(find_median(upper), avx2_load(in[1] + i), alpha));
        avx2_store(below + i, _mm256_blendv_epi8(find_median(lower), avx2_load(in[2] + i), alpha));
    }
    return i;
}
#endif

static void stencil_row(const struct filter_arguments *arguments, const struct stencil_rows *rows)
{
    const int done = AVX2_MADE(median_avx2(rows)), bytes = rows->pixel_bytes * rows->width;
    for (int i = 0; i < 2; i++) {
        median_row(rows->in[i], rows->in[i + 1], rows->in[i + 2], rows->out[i], rows->pixel_bytes, done, bytes);
        row_copy_alpha(rows, i, done / rows->pixel_bytes);
    }
}

extern const struct filter filter_median;
const struct filter filter_median = {
    .name = "median",
    .summary = "3x3 median: remove specks, keep edges",
    .example = "median",
    .kind = FILTER_STENCIL,
    .prepare = prepare,
    .stencil_row = stencil_row,
    .more_rows = 1,
    .grey_rows = true,
};
