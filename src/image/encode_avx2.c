// encode_avx2.c: rows of RGBA to YUV with AVX2
//
// From the plain C of encode.c compilers make three passes over memory instead of one, and take twice as long.
#include "image/encode_rows.h"

#include "base/avx2.h"

#include <stddef.h>

#ifdef HAVE_AVX2

enum { BLOCK = 32, VECTORS = 4 }; // pixels

typedef __m256i vector;
#define vector_load avx2_load
#define vector_store avx2_store
#define TARGET AVX2
#define INLINE AVX2_INLINE
#define OP(name) _mm256_##name

struct channels {
    vector red, green, blue;
};

// Of each 4 pixels: their reds, their greens, their blues and their alphas.
#define BY_CHANNEL 0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15

INLINE struct channels take_apart(const uint8_t *rgba)
{
    vector four[VECTORS]; // 4 pixels of the left half and 4 of the right half
    for (int i = 0; i < VECTORS; i++) {
        const __m128i *from = (const __m128i *)rgba + i;
        const vector pixels =
            _mm256_inserti128_si256(_mm256_castsi128_si256(_mm_loadu_si128(from)), _mm_loadu_si128(from + VECTORS), 1);
        four[i] = _mm256_shuffle_epi8(pixels, _mm256_setr_epi8(BY_CHANNEL, BY_CHANNEL));
    }
    const vector low = _mm256_unpacklo_epi32(four[0], four[1]), next_low = _mm256_unpacklo_epi32(four[2], four[3]);
    const vector high = _mm256_unpackhi_epi32(four[0], four[1]), next_high = _mm256_unpackhi_epi32(four[2], four[3]);
    return (struct channels){_mm256_unpacklo_epi64(low, next_low), _mm256_unpackhi_epi64(low, next_low),
                             _mm256_unpacklo_epi64(high, next_high)};
}

INLINE vector side_by_side(vector lower, vector upper)
{
    return _mm256_blendv_epi8(lower, upper, _mm256_set1_epi16((int16_t)0xff00));
}

#define LOWER_FIRST 0, 2, 4, 6, 8, 10, 12, 14, 1, 3, 5, 7, 9, 11, 13, 15

INLINE void store_parted(uint8_t *lower, uint8_t *upper, vector lanes)
{
    const vector halves = _mm256_shuffle_epi8(lanes, _mm256_setr_epi8(LOWER_FIRST, LOWER_FIRST));
    const vector parted = _mm256_permute4x64_epi64(halves, 0xd8);
    _mm_storeu_si128((__m128i *)lower, _mm256_castsi256_si128(parted));
    _mm_storeu_si128((__m128i *)upper, _mm256_extracti128_si256(parted, 1));
}

INLINE void store_in_turns(uint8_t *to, vector first, vector second)
{
    const vector low = _mm256_unpacklo_epi8(first, second), high = _mm256_unpackhi_epi8(first, second);
    avx2_store(to, _mm256_permute2x128_si256(low, high, 0x20));
    avx2_store(to + BLOCK, _mm256_permute2x128_si256(low, high, 0x31));
}

#include "image/encode_vectors.h"
#endif

int encode_rows_avx2(const struct encoder *encoder, const struct encode_rows *rows, int width)
{
    return AVX2_MADE(make_any_rows(encoder, rows, width));
}
