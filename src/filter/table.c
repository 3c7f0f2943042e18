// table.c: channels looked up in a table
#include "filter/table.h"

#include "filter/row_maps.h"

#ifdef HAVE_AVX2

enum { PIECE = 16 };

// A byte's lower half is looked up in each of some pieces of the table; bits of its upper half, which are on top in
// `choice`, then choose, two by two from the inside out, so that registers do.
AVX2_INLINE __m256i look_up_1(const uint8_t *table, __m256i place, const __m256i *choice)
{
    return _mm256_shuffle_epi8(avx2_load_twice(table), place);
}

#define LOOK_UP(count, half, bit)                                                                                      \
    AVX2_INLINE __m256i look_up_##count(const uint8_t *table, __m256i place, const __m256i *choice)                    \
    {                                                                                                                  \
        return _mm256_blendv_epi8(look_up_##half(table, place, choice),                                                \
                                  look_up_##half(table + PIECE * half, place, choice), choice[bit]);                   \
    }
LOOK_UP(2, 1, 0)
LOOK_UP(4, 2, 1)
LOOK_UP(8, 4, 2)
LOOK_UP(16, 8, 3)
#undef LOOK_UP

AVX2_INLINE __m256i look_up(__m256i bytes, const void *table)
{
    const __m256i place = _mm256_and_si256(bytes, _mm256_set1_epi8(PIECE - 1));
    const __m256i choice[] = {_mm256_slli_epi16(bytes, 3), _mm256_slli_epi16(bytes, 2), _mm256_slli_epi16(bytes, 1),
                              bytes};
    return row_colours(look_up_16(table, place, choice), bytes);
}

// Half of the table is as much as an instruction takes; the channel's top bit chooses.
AVX512_INLINE __m512i look_up_wide(__m512i bytes, const void *table)
{
    const uint8_t *from = table;
    const __mmask64 high = _mm512_movepi8_mask(bytes) & ROW_COLOURS;
    const __m512i lower = _mm512_mask2_permutex2var_epi8(avx512_load(from), bytes, ROW_COLOURS, avx512_load(from + 64));
    return _mm512_mask_mov_epi8(lower, high,
                                _mm512_permutex2var_epi8(avx512_load(from + 128), bytes, avx512_load(from + 192)));
}
#endif
ROW_MAP_APART(look_up_vector, look_up, look_up_wide)

void table_point_row(const struct filter_arguments *arguments, const uint8_t *from, uint8_t *to, int width, bool past)
{
    uint8_t table[TABLE_ENTRIES];
    for (int i = 0; i < TABLE_ENTRIES; i++)
        table[i] = (uint8_t)arguments->value[i];
    for (int x = look_up_vector(table, from, to, width, past); x < width; x++) {
        for (int i = 0; i < 3; i++)
            to[4 * x + i] = table[from[4 * x + i]];
        to[4 * x + 3] = from[4 * x + 3];
    }
}
