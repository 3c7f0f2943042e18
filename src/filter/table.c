// table.c: channels looked up in a table
#include "filter/table.h"

#include "filter/rows_avx2.h"

#ifdef HAVE_AVX2

enum { PIECE = 16, PIECES = TABLE_ENTRIES / PIECE };

// A byte's lower half is looked up in each of some pieces of the table; bits of its upper half, which are on top in
// `choice`, then choose, two by two from the inside out, so that registers do.
AVX2_INLINE __m256i look_up_1(const __m256i *pieces, __m256i place, const __m256i *choice)
{
    return _mm256_shuffle_epi8(*pieces, place);
}

#define LOOK_UP(count, half, bit)                                                                                      \
    AVX2_INLINE __m256i look_up_##count(const __m256i *pieces, __m256i place, const __m256i *choice)                   \
    {                                                                                                                  \
        return _mm256_blendv_epi8(look_up_##half(pieces, place, choice), look_up_##half(pieces + half, place, choice), \
                                  choice[bit]);                                                                        \
    }
LOOK_UP(2, 1, 0)
LOOK_UP(4, 2, 1)
LOOK_UP(8, 4, 2)
LOOK_UP(16, 8, 3)
#undef LOOK_UP

AVX2_INLINE __m256i look_up(__m256i bytes, const void *pieces)
{
    const __m256i place = _mm256_and_si256(bytes, _mm256_set1_epi8(PIECE - 1));
    const __m256i choice[] = {_mm256_slli_epi16(bytes, 3), _mm256_slli_epi16(bytes, 2), _mm256_slli_epi16(bytes, 1),
                              bytes};
    const __m256i alpha = _mm256_set1_epi32((int32_t)0xff000000u);
    return _mm256_blendv_epi8(look_up_16(pieces, place, choice), bytes, alpha);
}

// As many pixels as fit, and how many that is.
AVX2 static int look_up_avx2(const int32_t *table, const uint8_t *from, uint8_t *to, int width, bool past)
{
    uint8_t bytes[TABLE_ENTRIES];
    __m256i pieces[PIECES];
    for (int i = 0; i < TABLE_ENTRIES; i++)
        bytes[i] = (uint8_t)table[i];
    for (int i = 0; i < PIECES; i++)
        pieces[i] = avx2_load_twice(bytes + PIECE * i);
    return row_map_avx2(look_up, pieces, from, to, width, past);
}

#else

static int look_up_avx2(const int32_t *table, const uint8_t *from, uint8_t *to, int width, bool past)
{
    return 0;
}

#endif

void table_point_row(const struct filter_arguments *arguments, const uint8_t *from, uint8_t *to, int width, bool past)
{
    const int32_t *table = arguments->value;
    for (int x = avx2_works() ? look_up_avx2(table, from, to, width, past) : 0; x < width; x++) {
        for (int i = 0; i < 3; i++)
            to[4 * x + i] = (uint8_t)table[from[4 * x + i]];
        to[4 * x + 3] = from[4 * x + 3];
    }
}
