// table.c: channels looked up in a table
#include "filter/table.h"

#include "base/avx2.h"

#ifdef HAVE_AVX2

enum { PIECE = 16, PIECES = TABLE_ENTRIES / PIECE, BLOCK = 8 };

// Each byte looked up by its lower half in every piece of the table; the upper half's bits then choose, pair by pair.
AVX2_INLINE __m256i look_up(const __m256i *pieces, __m256i bytes)
{
    const __m256i place = _mm256_and_si256(bytes, _mm256_set1_epi8(PIECE - 1));
    __m256i found[PIECES], choice = _mm256_slli_epi16(bytes, 3); // bit 4 is on top
#pragma GCC unroll 16
    for (int i = 0; i < PIECES; i++)
        found[i] = _mm256_shuffle_epi8(pieces[i], place);
#pragma GCC unroll 4
    for (int left = PIECES / 2; left > 0; left /= 2) {
#pragma GCC unroll 8
        for (int i = 0; i < left; i++)
            found[i] = _mm256_blendv_epi8(found[2 * i], found[2 * i + 1], choice);
        choice = left > 2 ? _mm256_slli_epi16(bytes, left > 4 ? 2 : 1) : bytes;
    }
    return found[0];
}

// As many pixels as fit, and how many that is.
AVX2 static int look_up_avx2(const int32_t *table, const uint8_t *from, uint8_t *to, int width)
{
    const __m256i alpha = _mm256_set1_epi32((int32_t)0xff000000u);
    uint8_t bytes[TABLE_ENTRIES];
    __m256i pieces[PIECES];
    for (int i = 0; i < TABLE_ENTRIES; i++)
        bytes[i] = (uint8_t)table[i];
    for (int i = 0; i < PIECES; i++)
        pieces[i] = avx2_load_twice(bytes + PIECE * i);
    int x = 0;
    for (; x + BLOCK <= width; x += BLOCK) {
        const __m256i pixels = avx2_load(from + 4 * x);
        avx2_fetch_to_write(to + 4 * x);
        avx2_store(to + 4 * x, _mm256_blendv_epi8(look_up(pieces, pixels), pixels, alpha));
    }
    return x;
}

#else

static int look_up_avx2(const int32_t *table, const uint8_t *from, uint8_t *to, int width)
{
    return 0;
}

#endif

void table_point_row(const struct filter_arguments *arguments, const uint8_t *from, uint8_t *to, int width)
{
    const int32_t *table = arguments->value;
    for (int x = avx2_works() ? look_up_avx2(table, from, to, width) : 0; x < width; x++) {
        for (int i = 0; i < 3; i++)
            to[4 * x + i] = (uint8_t)table[from[4 * x + i]];
        to[4 * x + 3] = from[4 * x + 3];
    }
}
