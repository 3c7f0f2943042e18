// encode_avx512.c: rows of RGBA to YUV with AVX-512
#include "image/encode_rows.h"

#include "base/avx512.h"

#include <stddef.h>

#ifdef HAVE_AVX512

enum { BLOCK = 64 }; // pixels

typedef __m512i vector;
#define vector_load avx512_load
#define vector_store avx512_store
#define TARGET AVX512
#define INLINE AVX512_INLINE
#define OP(name) _mm512_##name

struct channels {
    vector red, green, blue;
};

// So many numbers, `step` apart.
#define STEPS_4(first, step) (first), (first) + (step), (first) + 2 * (step), (first) + 3 * (step)
#define STEPS_16(first, step)                                                                                          \
    STEPS_4(first, step), STEPS_4((first) + 4 * (step), step), STEPS_4((first) + 8 * (step), step),                    \
        STEPS_4((first) + 12 * (step), step)
#define STEPS_32(first, step) STEPS_16(first, step), STEPS_16((first) + 16 * (step), step)

INLINE struct channels take_apart(const uint8_t *rgba)
{
    static const uint8_t red_green[BLOCK] = {STEPS_32(0, 4), STEPS_32(1, 4)}, blue[BLOCK] = {STEPS_32(2, 4)};
    const vector a = avx512_load(rgba), b = avx512_load(rgba + 64);
    const vector c = avx512_load(rgba + 128), d = avx512_load(rgba + 192);
    const vector left = _mm512_permutex2var_epi8(a, avx512_load(red_green), b);
    const vector right = _mm512_permutex2var_epi8(c, avx512_load(red_green), d);
    const vector left_blue = _mm512_permutex2var_epi8(a, avx512_load(blue), b);
    const vector right_blue = _mm512_permutex2var_epi8(c, avx512_load(blue), d);
    return (struct channels){_mm512_shuffle_i64x2(left, right, 0x44), _mm512_shuffle_i64x2(left, right, 0xee),
                             _mm512_shuffle_i64x2(left_blue, right_blue, 0x44)};
}

INLINE vector side_by_side(vector lower, vector upper)
{
    return _mm512_mask_mov_epi8(lower, 0xaaaaaaaaaaaaaaaau, upper);
}

INLINE void store_parted(uint8_t *lower, uint8_t *upper, vector lanes)
{
    static const uint8_t lower_first[BLOCK] = {STEPS_32(0, 2), STEPS_32(1, 2)};
    const vector parted = _mm512_permutexvar_epi8(avx512_load(lower_first), lanes);
    avx2_store(lower, _mm512_castsi512_si256(parted));
    avx2_store(upper, _mm512_extracti64x4_epi64(parted, 1));
}

INLINE void store_in_turns(uint8_t *to, vector first, vector second)
{
    const vector low = _mm512_unpacklo_epi8(first, second), high = _mm512_unpackhi_epi8(first, second);
    const vector from_low = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11);
    const vector from_high = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
    avx512_store(to, _mm512_permutex2var_epi64(low, from_low, high));
    avx512_store(to + BLOCK, _mm512_permutex2var_epi64(low, from_high, high));
}

#include "image/encode_vectors.h"
#endif

int encode_rows_avx512(const struct encoder *encoder, const struct encode_rows *rows, int width)
{
#ifdef HAVE_AVX512
    return avx512_works() ? make_any_rows(encoder, rows, width) : 0;
#else
    return 0;
#endif
}
