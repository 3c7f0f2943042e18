// contrast.c: contrast around middle grey, and brightness
#include "filter/table.h"

#include "filter/row_maps.h"
#include "filter/rows.h"

#include <math.h>

static const struct param params[] = {
    {"amount", PARAM_REAL, .max = 10, .preset = 1.5f, .step = 0.1f,
     .help = "factor around middle grey; 1 has no effect"},
    {"brightness", PARAM_REAL, .min = -255, .max = 255, .step = 4, .help = "value added to each channel"},
    {0},
};

// Behind the table: what gives the same as the table, ((c * factor >> 8) + start) >> shift, in 16 bits. A factor of 0:
// nothing does.
enum { FACTOR = TABLE_ENTRIES, START, SHIFT, COUNT, SHIFT_MAX = 6 };

static bool is_table(const int32_t *table, int factor, int start, int shift)
{
    for (int c = 0; c < TABLE_ENTRIES; c++) {
        if (sat8(((c * factor >> 8) + start) >> shift) != table[c])
            return false;
    }
    return true;
}

static void find_line(int32_t *value, double amount, double offset)
{
    int shift = SHIFT_MAX;
    while (amount * 255 * (1 << shift) > INT16_MAX)
        shift--;
    const int factor = (int)floor(amount * (1 << shift) * 256 + 0.5), start = (int)floor(offset * (1 << shift) + 0.5);
    value[FACTOR] = value[START] = value[SHIFT] = 0;
    for (int i = 0; i < 9 && value[FACTOR] == 0; i++) { // roundings may meet with one next to them
        const int near_factor = factor + i % 3 - 1, near_start = start + i / 3 - 1;
        if (near_factor >= 0 && is_table(value, near_factor, near_start, shift)) {
            value[FACTOR] = near_factor;
            value[START] = near_start;
            value[SHIFT] = shift;
        }
    }
}

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    const double amount = values->value[0], brightness = values->value[1];
    arguments->count = COUNT;
    for (int i = 0; i < TABLE_ENTRIES; i++)
        arguments->value[i] = sat8((int)floor((i - 127.5) * amount + 127.5 + brightness + 0.5));
    find_line(arguments->value, amount, 128 - 127.5 * amount + brightness);
    return true;
}

#ifdef HAVE_AVX2
struct line {
    __m256i factor, start;
    __m128i shift;
};

AVX2_INLINE __m256i along_line(__m256i shifted, const struct line *line) // bytes << 8
{
    const __m256i product = _mm256_mulhi_epu16(shifted, line->factor);
    return _mm256_sra_epi16(_mm256_adds_epi16(product, line->start), line->shift);
}

AVX2_INLINE __m256i follow_line(__m256i pixels, const void *numbers)
{
    const __m256i zero = _mm256_setzero_si256();
    const __m256i made = _mm256_packus_epi16(along_line(_mm256_unpacklo_epi8(zero, pixels), numbers),
                                             along_line(_mm256_unpackhi_epi8(zero, pixels), numbers));
    return row_colours(made, pixels);
}

AVX2 static int follow_avx2(const int32_t *value, const uint8_t *from, uint8_t *to, int width, bool past)
{
    const struct line line = {_mm256_set1_epi16((int16_t)value[FACTOR]), _mm256_set1_epi16((int16_t)value[START]),
                              _mm_cvtsi32_si128(value[SHIFT])};
    return row_map_avx2(follow_line, &line, from, to, width, past);
}
#endif

static void point_row(const struct filter_arguments *arguments, const uint8_t *from, uint8_t *to, int width, bool past)
{
    const bool line = arguments->value[FACTOR] > 0;
    const int done = line ? AVX2_MADE(follow_avx2(arguments->value, from, to, width, past)) : 0;
    if (done < width)
        table_point_row(arguments, from + 4 * done, to + 4 * done, width - done, past);
}

extern const struct filter filter_contrast;
const struct filter filter_contrast = {
    .name = "contrast",
    .summary = "adjust contrast and brightness",
    .example = "contrast=1.3:brightness=10",
    .kind = FILTER_POINT,
    .params = params,
    .prepare = prepare,
    .point_row = point_row,
};
