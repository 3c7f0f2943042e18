// blur.c: the mean of a square
#include "base/avx2.h"
#include "filter/filter.h"
#include "filter/rows.h"

enum { SMALL_RADIUS = 7 }; // up to here the sums over a square, 225 bytes and their rounding, fit 16 bits

static const struct param params[] = {
    {.name = "radius",
     .type = PARAM_INT,
     .min = 1,
     .max = FILTER_RADIUS_MAX,
     .preset = 2,
     .step = 1,
     .help = "pixels on each side; 2 is a 5x5 square"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->radius = (int)values->value[0];
    return true;
}

// Scratch: for the even and for the odd bytes, the sums of each column over the rows in reach; for large squares also
// the sums over the square.
static size_t scratch_bytes(const struct filter_arguments *arguments, int width)
{
    const size_t bytes = 4 * ((size_t)width + 2 * (size_t)arguments->radius);
    return bytes * (sizeof(uint16_t) + (arguments->radius > SMALL_RADIUS ? sizeof(uint32_t) : 0));
}

VECTOR_CLONES static void add_row(uint16_t *restrict even, uint16_t *restrict odd, const byte_pair *restrict row,
                                  int pairs)
{
    for (int i = 0; i < pairs; i++) {
        even[i] = (uint16_t)(even[i] + (row[i] & 255));
        odd[i] = (uint16_t)(odd[i] + (row[i] >> 8));
    }
}

VECTOR_CLONES static void exchange_row(uint16_t *restrict even, uint16_t *restrict odd, const byte_pair *restrict in,
                                       const byte_pair *restrict out, int pairs)
{
    for (int i = 0; i < pairs; i++) {
        even[i] = (uint16_t)(even[i] + (in[i] & 255) - (out[i] & 255));
        odd[i] = (uint16_t)(odd[i] + (in[i] >> 8) - (out[i] >> 8));
    }
}

// Column sums that squares begin with: what makes up half a square's area over any `side` columns side by side, so that
// dividing rounds to nearest.
static void begin_columns(uint16_t *even, uint16_t *odd, int side, int pairs)
{
    const int half = side * side / 2;
    for (int i = 0; i < pairs; i++) {
        const int column = i / 2;
        even[i] = odd[i] =
            column < side ? (uint16_t)((column + 1) * half / side - column * half / side) : even[i - 2 * side];
    }
}

// Column sums, from the left end of the first square on, and what the squares' means become.
struct squares {
    const uint16_t *even, *odd;
    const byte_pair *centre;
    byte_pair *to;
    int pairs;
};

// Radius, factor, shift: sum / area is sum * factor >> 16 >> shift, where the factor is 2^(16 + shift) / area, rounded
// up; exact for every sum (tried for all of them).
#define SMALL_RADII(ROW)                                                                                               \
    ROW(1, 58255, 3)                                                                                                   \
    ROW(2, 41944, 4)                                                                                                   \
    ROW(3, 42800, 5)                                                                                                   \
    ROW(4, 51782, 6)                                                                                                   \
    ROW(5, 34664, 6)                                                                                                   \
    ROW(6, 49637, 7)                                                                                                   \
    ROW(7, 37283, 7)

// Means in 16-bit lanes. In loops of one step each: only so do compilers find the processors' instruction for the upper
// half of a 16-bit product.
#define SMALL_MEANS(radius, factor, shift)                                                                             \
    VECTOR_CLONES static void small_means_##radius(const struct squares *squares, int first)                           \
    {                                                                                                                  \
        enum { SIDE = 2 * radius + 1 };                                                                                \
        const byte_pair *restrict alpha = (const byte_pair *)row_alpha;                                                \
        uint16_t even[ROW_CHUNK], odd[ROW_CHUNK], even_mean[ROW_CHUNK], odd_mean[ROW_CHUNK];                           \
        for (; first < squares->pairs; first += ROW_CHUNK) {                                                           \
            const int count = squares->pairs - first < ROW_CHUNK ? squares->pairs - first : ROW_CHUNK;                 \
            const uint16_t *restrict evens = squares->even + first, *restrict odds = squares->odd + first;             \
            const byte_pair *restrict centre = squares->centre + first;                                                \
            byte_pair *restrict to = squares->to + first;                                                              \
            for (int i = 0; i < count; i++) {                                                                          \
                uint16_t e = 0, o = 0;                                                                                 \
                for (int k = 0; k < SIDE; k++) {                                                                       \
                    e = (uint16_t)(e + evens[i + 2 * k]);                                                              \
                    o = (uint16_t)(o + odds[i + 2 * k]);                                                               \
                }                                                                                                      \
                even[i] = e;                                                                                           \
                odd[i] = o;                                                                                            \
            }                                                                                                          \
            for (int i = 0; i < count; i++)                                                                            \
                even_mean[i] = (uint16_t)((uint32_t)even[i] * factor##u >> 16);                                        \
            for (int i = 0; i < count; i++)                                                                            \
                odd_mean[i] = (uint16_t)((uint32_t)odd[i] * factor##u >> 16);                                          \
            for (int i = 0; i < count; i++)                                                                            \
                to[i] = row_join((uint16_t)(even_mean[i] >> shift), (uint16_t)(odd_mean[i] >> shift), centre[i],       \
                                 alpha[i]);                                                                            \
        }                                                                                                              \
    }
SMALL_RADII(SMALL_MEANS)
#undef SMALL_MEANS

#define SMALL_ENTRY(radius, factor, shift) [radius] = small_means_##radius,
static void (*const small_means[SMALL_RADIUS + 1])(const struct squares *squares,
                                                   int first) = {SMALL_RADII(SMALL_ENTRY)};
#undef SMALL_ENTRY

#ifdef HAVE_AVX2
AVX2_INLINE __m256i sum_columns(const uint16_t *columns, int side)
{
    __m256i sum = avx2_load(columns);
#pragma GCC unroll 15
    for (int k = 1; k < side; k++)
        sum = _mm256_add_epi16(sum, avx2_load(columns + 2 * k));
    return sum;
}

AVX2_INLINE int means_avx2(const struct squares *squares, int side, int factor, int shift)
{
    const __m256i factors = _mm256_set1_epi16((int16_t)factor), odd_bytes = _mm256_set1_epi16((int16_t)0xff00);
    const __m256i alpha = _mm256_set1_epi32((int32_t)0xff000000u);
    const uint16_t *evens = squares->even, *odds = squares->odd;
    const byte_pair *centre = squares->centre;
    byte_pair *to = squares->to;
    const int pairs = squares->pairs;
    int i = 0;
    for (; i + 16 <= pairs; i += 16) {
        const __m256i even = _mm256_mulhi_epu16(sum_columns(evens + i, side), factors);
        const __m256i odd = _mm256_mulhi_epu16(sum_columns(odds + i, side), factors);
        const __m256i mean =
            _mm256_blendv_epi8(_mm256_srli_epi16(even, shift), _mm256_slli_epi16(odd, 8 - shift), odd_bytes);
        avx2_store(to + i, _mm256_blendv_epi8(mean, avx2_load(centre + i), alpha));
    }
    return i;
}

// The same for as many pairs as fit, and how many that is: with all steps in one loop.
AVX2 static int small_means_avx2(const struct squares *squares, int radius)
{
    switch (radius) {
#define SMALL_CASE(radius, factor, shift)                                                                              \
    case radius:                                                                                                       \
        return means_avx2(squares, 2 * radius + 1, factor, shift);
        SMALL_RADII(SMALL_CASE)
#undef SMALL_CASE
    }
    return 0;
}
#else
static int small_means_avx2(const struct squares *squares, int radius)
{
    return 0;
}
#endif

// Sums over squares, each from the one before it: a pixel's four bytes run side by side.
static void sum_squares(const struct squares *squares, uint32_t *restrict even, uint32_t *restrict odd, int side)
{
    const int reach = 2 * (side - 1);
    uint32_t even_sum[2] = {0}, odd_sum[2] = {0};
    for (int i = 0; i < reach; i++) {
        even_sum[i % 2] += squares->even[i];
        odd_sum[i % 2] += squares->odd[i];
    }
    for (int i = 0; i < squares->pairs; i++) {
        even[i] = even_sum[i % 2] + squares->even[i + reach];
        odd[i] = odd_sum[i % 2] + squares->odd[i + reach];
        even_sum[i % 2] = even[i] - squares->even[i];
        odd_sum[i % 2] = odd[i] - squares->odd[i];
    }
}

// sum / area. The quotient (2 sum + 1) / (2 area) is at least 1 / (2 area) > 5e-4 away from every integer, far more
// than the 3e-5 that float can be off below 256, so that truncating it is exact.
static inline uint16_t divide(uint32_t sum, float half)
{
    return (uint16_t)(int)((float)(int)(2 * sum + 1) * half);
}

VECTOR_CLONES static void large_means(byte_pair *restrict to, const byte_pair *restrict centre,
                                      const uint32_t *restrict even, const uint32_t *restrict odd, int area, int pairs)
{
    const byte_pair *restrict alpha = (const byte_pair *)row_alpha;
    const float half = 0.5f / (float)area;
    for (int i = 0; i < pairs; i++)
        to[i] = row_join(divide(even[i], half), divide(odd[i], half), centre[i], alpha[i % ROW_CHUNK]);
}

static void stencil_row(const struct filter_arguments *arguments, const uint8_t *const *rows, uint8_t *rgba, int width,
                        void *scratch, bool first_row)
{
    const int radius = arguments->radius, side = 2 * radius + 1, pairs = 2 * (width + 2 * radius);
    uint16_t *even = scratch, *odd = even + pairs;
    if (first_row) {
        begin_columns(even, odd, side, pairs);
        for (int i = 0; i < side; i++)
            add_row(even, odd, (const byte_pair *)(rows[i] - 4 * radius), pairs);
    } else {
        exchange_row(even, odd, (const byte_pair *)(rows[2 * radius] - 4 * radius),
                     (const byte_pair *)(rows[-1] - 4 * radius), pairs);
    }
    const struct squares squares = {even, odd, (const byte_pair *)rows[radius], (byte_pair *)rgba, 2 * width};
    if (radius <= SMALL_RADIUS) {
        small_means[radius](&squares, avx2_works() ? small_means_avx2(&squares, radius) : 0);
    } else {
        uint32_t *even_sums = (uint32_t *)(odd + pairs), *odd_sums = even_sums + 2 * width;
        sum_squares(&squares, even_sums, odd_sums, side);
        large_means(squares.to, squares.centre, even_sums, odd_sums, side * side, 2 * width);
    }
}

extern const struct filter filter_blur;
const struct filter filter_blur = {
    .name = "blur",
    .summary = "box blur: the mean of the square around each pixel",
    .example = "blur=3",
    .kind = FILTER_STENCIL,
    .params = params,
    .kernel = "blur.cl",
    .separable = true,
    .prepare = prepare,
    .stencil_row = stencil_row,
    .scratch_bytes = scratch_bytes,
};
