// convolve_avx512.c: convolutions in whole numbers with AVX-512: 32 products and their sums an instruction
//
// A 32-bit lane holds two values of a channel, a two. With two weights in a lane likewise, one instruction adds both
// products to a sum. Twos are neighbours in a row; of the last column, since columns are odd in number, a pixel and the
// one below it. Four output rows are made at a time, so that a two of an input row serves up to four.
//
// Twos are made anew wherever they are needed, from loads that lie two bytes apart: that takes nothing but blends,
// masks and a shift, which other units of the processor do than those that multiply.
#include "filter/convolve.h"

#include "base/avx512.h"
#include "filter/stencil_avx2.h"

#ifdef HAVE_AVX512

enum {
    CHANNELS = 3,
    RADIUS_MAX = 4,
    LANES = 16,
    NONE = -1,
    WEIGHTS_MAX = (2 * RADIUS_MAX + 1) * RADIUS_MAX + 2 * (RADIUS_MAX + 1),
};

// Where the weights are of the two of column 2 k in row y of the square.
static inline int row_weights(int radius, int y, int k)
{
    return y * radius + k;
}

// Of two i in its last column. Squares of even output rows begin with a two, those of odd ones with its lower half.
static inline int column_weights(int radius, bool odd, int i)
{
    return (2 * radius + 1) * radius + (odd ? radius + 1 : 0) + i;
}

static int32_t two_weights(int32_t first, int32_t second)
{
    return (int32_t)((uint32_t)(uint16_t)first | (uint32_t)second << 16);
}

static void arrange(int32_t *to, const int32_t *weights, int radius)
{
    const int side = 2 * radius + 1;
    for (int y = 0; y < side; y++)
        for (int k = 0; k < radius; k++)
            to[row_weights(radius, y, k)] = two_weights(weights[y * side + 2 * k], weights[y * side + 2 * k + 1]);
    for (int i = 0; i <= radius; i++) {
        const int32_t *last = weights + (2 * i + 1) * side - 1; // of the column; those beyond the square are 0
        to[column_weights(radius, false, i)] = two_weights(last[0], i < radius ? last[side] : 0);
        to[column_weights(radius, true, i)] = two_weights(i > 0 ? last[-side] : 0, last[0]);
    }
}

// Lanes whose lower halves are the first one's and whose upper halves are the second one's.
AVX512_INLINE __m512i blend(__m512i lower, __m512i upper)
{
    return _mm512_mask_blend_epi16(0xaaaaaaaa, lower, upper);
}

// Adds the products of twos of red and green side by side, and of blue and alpha. `by` says where their weights are for
// each output row, or NONE.
AVX512_INLINE void weigh(__m512i (*sums)[CHANNELS], __m512i red_green, __m512i blue_alpha, const int32_t *weights,
                         const int *by)
{
    const __m512i even_bytes = _mm512_set1_epi16(0xff);
    const __m512i twos[CHANNELS] = {_mm512_and_si512(red_green, even_bytes), _mm512_srli_epi16(red_green, 8),
                                    _mm512_and_si512(blue_alpha, even_bytes)};
#pragma GCC unroll 4
    for (int i = 0; i < STENCIL_ROWS; i++) {
        if (by[i] == NONE)
            continue;
        const __m512i weight = _mm512_set1_epi32(weights[by[i]]);
#pragma GCC unroll 3
        for (int c = 0; c < CHANNELS; c++) // said outright, since compilers move the sums about
            __asm__("vpdpwssd %2, %1, %0" : "+v"(sums[i][c]) : "v"(twos[c]), "v"(weight));
    }
}

// What input row y adds to the sums, by its columns but the last. `row` is the first pixel in reach.
AVX512_INLINE void weigh_row(__m512i (*sums)[CHANNELS], const uint8_t *row, const int32_t *weights, int y, int radius)
{
#pragma GCC unroll 4
    for (int k = 0; k < radius; k++) {
        const uint8_t *at = row + 8 * k;
        const __m512i middle = avx512_load(at + 2);
        int by[STENCIL_ROWS];
#pragma GCC unroll 4
        for (int i = 0; i < STENCIL_ROWS; i++)
            by[i] = y >= i && y - i <= 2 * radius ? row_weights(radius, y - i, k) : NONE;
        weigh(sums, blend(avx512_load(at), middle), blend(middle, avx512_load(at + 4)), weights, by);
    }
}

// What input rows y and y + 1 add by the last column, of which `upper` and `lower` are the first pixels.
AVX512_INLINE void weigh_column(__m512i (*sums)[CHANNELS], const uint8_t *upper, const uint8_t *lower,
                                const int32_t *weights, int y, int radius)
{
    const __m512i up = avx512_load(upper), low = avx512_load(lower);
    int by[STENCIL_ROWS];
#pragma GCC unroll 4
    for (int i = 0; i < STENCIL_ROWS; i++) {
        const int first = i / 2 * 2;
        by[i] = y >= first && y - first <= 2 * radius ? column_weights(radius, i % 2, (y - first) / 2) : NONE;
    }
    weigh(sums, blend(up, _mm512_slli_epi32(low, 16)), blend(_mm512_srli_epi32(up, 16), low), weights, by);
}

// 16 pixels' sums shifted and saturated, with the centres' alpha.
AVX512_INLINE __m512i join(const __m512i *sums, __m512i centres, int shift)
{
    const __mmask64 colours = 0x7777777777777777u;
    const __m128i bits = _mm_cvtsi32_si128(shift);
    const __m512i order = _mm512_broadcast_i32x4(_mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15));
    const __m512i red = _mm512_sra_epi32(sums[0], bits), green = _mm512_sra_epi32(sums[1], bits);
    const __m512i blue = _mm512_sra_epi32(sums[2], bits);
    const __m512i all = _mm512_packus_epi16(_mm512_packs_epi32(red, green), _mm512_packs_epi32(blue, blue));
    return _mm512_mask_shuffle_epi8(centres, colours, all, order);
}

// 16 pixels of each output row, from pixel `x` on.
AVX512_INLINE void make_block(const struct stencil_rows *rows, const int32_t *weights, int offset, int shift, int x,
                              int radius)
{
    __m512i sums[STENCIL_ROWS][CHANNELS];
#pragma GCC unroll 12
    for (int i = 0; i < STENCIL_ROWS * CHANNELS; i++)
        sums[i / CHANNELS][i % CHANNELS] = _mm512_set1_epi32(offset);
#pragma GCC unroll 12
    for (int y = 0; y < 2 * radius + STENCIL_ROWS; y++) {
        weigh_row(sums, rows->in[y] + 4 * (x - radius), weights, y, radius);
        if (y % 2 != 0)
            weigh_column(sums, rows->in[y - 1] + 4 * (x + radius), rows->in[y] + 4 * (x + radius), weights, y - 1,
                         radius);
    }
#pragma GCC unroll 4
    for (int i = 0; i < STENCIL_ROWS; i++)
        avx512_store(rows->out[i] + 4 * x, join(sums[i], avx512_load(rows->in[i + radius] + 4 * x), shift));
}

AVX512_INLINE void make_rows(const struct filter_arguments *arguments, const struct stencil_rows *given, int radius)
{
    const struct stencil_rows rows = *given; // a copy, which no store can change
    const int offset = arguments->value[CONVOLVE_OFFSET], shift = arguments->value[CONVOLVE_SHIFT];
    const int last = rows.width - LANES; // the last block may begin early
    int32_t weights[WEIGHTS_MAX];
    arrange(weights, arguments->value + CONVOLVE_WEIGHTS, radius);
    for (int x = 0, done = 0; !done; x = x + LANES < last ? x + LANES : last) {
        const int32_t *known = weights;
        __asm__("" : "+r"(known)); // or compilers keep all weights as vectors in memory
        row_fetch_next(&rows.next, STENCIL_ROWS, 4 * x);
        make_block(&rows, known, offset, shift, x, radius);
        done = x == last;
    }
}

#define MAKE(radius)                                                                                                   \
    AVX512 static void make_##radius(const struct filter_arguments *arguments, const struct stencil_rows *rows)        \
    {                                                                                                                  \
        make_rows(arguments, rows, radius);                                                                            \
    }
MAKE(0)
MAKE(1)
MAKE(2)
MAKE(3)
MAKE(4)
#undef MAKE

bool convolve_avx512_fits(int width)
{
    return avx512_works() && width >= LANES;
}

void convolve_avx512_rows(const struct filter_arguments *arguments, const struct stencil_rows *rows)
{
    typedef void make_function(const struct filter_arguments *arguments, const struct stencil_rows *rows);
    static make_function *const make[] = {make_0, make_1, make_2, make_3, make_4};
    make[arguments->radius](arguments, rows);
}

#else

bool convolve_avx512_fits(int width)
{
    return false;
}

void convolve_avx512_rows(const struct filter_arguments *arguments, const struct stencil_rows *rows) {}

#endif
