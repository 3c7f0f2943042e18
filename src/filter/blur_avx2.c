// blur_avx2.c: means of small squares with AVX2
//
// The sums of columns are kept from row to row: from one to the next a row of pixels comes into reach and another one
// leaves it. The bytes of both rows are interleaved, so that one instruction makes their differences, which are added
// to the sums. Interleaving puts pixels in an order of its own, and the sums stay in it: a block is 8 columns; a "two"
// is two columns side by side, in four 16-bit lanes each; a block's first vector holds twos 0 and 2, its second one
// twos 1 and 3. The sums of squares are made from these vectors and those of the blocks to their right.
#include "filter/blur.h"

#include "base/avx2.h"

#ifdef HAVE_AVX2

enum { BLOCK = 8, BLOCK_BYTES = 4 * BLOCK, VECTOR_LANES = 16, BLOCK_LANES = 2 * VECTOR_LANES };

// Twos i and i + 2 of a block and of those to its right.
struct window {
    __m256i twos[12];
};

// Blocks to its right that a block's squares reach.
static inline int count_ahead(int radius)
{
    return radius <= BLOCK / 2 ? 1 : 2;
}

AVX2_INLINE __m256i exchange(uint16_t *columns, __m256i pairs)
{
    const __m256i difference = _mm256_maddubs_epi16(pairs, _mm256_set1_epi16((int16_t)0xff01)); // 1, -1
    const __m256i sum = _mm256_add_epi16(avx2_load(columns), difference);
    avx2_store(columns, sum);
    return sum;
}

// Brings a block's columns up to date, by the bytes that come into reach and leave it, and into the window behind what
// is there.
AVX2_INLINE void take_block(struct window *window, __m256i in, __m256i out, uint16_t *columns, int ahead)
{
    __m256i *twos = &window->twos[4 * ahead];
    twos[0] = exchange(columns, _mm256_unpacklo_epi8(in, out));
    twos[1] = exchange(columns + VECTOR_LANES, _mm256_unpackhi_epi8(in, out));
    if (ahead > 0) {
        twos[-2] = _mm256_permute2x128_si256(twos[-4], twos[0], 0x21); // the upper half of one, the lower of the other
        twos[-1] = _mm256_permute2x128_si256(twos[-3], twos[1], 0x21);
    }
}

// The means of squares that begin with twos `first` and `first` + 2, in 16-bit lanes. `sum` is of `radius` twos,
// `next` of those one further on: each two with its right neighbours' middle, and the last column.
AVX2_INLINE __m256i mean(__m256i sum, __m256i next, __m256i last, __m256i factors, int shift)
{
    const __m256i squares = _mm256_add_epi16(_mm256_add_epi16(sum, last), _mm256_alignr_epi8(next, sum, 8));
    return _mm256_srli_epi16(_mm256_mulhi_epu16(squares, factors), shift);
}

AVX2_INLINE __m256i sum_twos(const __m256i *twos, int count)
{
    __m256i sum = twos[0];
#pragma GCC unroll 7
    for (int i = 1; i < count; i++)
        sum = _mm256_add_epi16(sum, twos[i]);
    return sum;
}

// The sum one further on.
AVX2_INLINE __m256i move_sum(__m256i sum, const __m256i *twos, int count)
{
    return count <= 2 ? sum_twos(twos + 1, count) : _mm256_add_epi16(sum, _mm256_sub_epi16(twos[count], twos[0]));
}

AVX2_INLINE void make_row(const struct stencil_rows *rows, int blocks, int radius, int factor, int shift)
{
    const __m256i factors = _mm256_set1_epi16((int16_t)factor), alpha = _mm256_set1_epi32((int32_t)0xff000000u);
    const int ahead = count_ahead(radius);
    const uint8_t *in = rows->in[2 * radius] - 4 * radius;
    const uint8_t *out = rows->first ? in : rows->in[-1] - 4 * radius; // first columns are what they should be
    const uint8_t *centre = rows->in[radius], *next_in = rows->next.in[0], *next_out = rows->next.out[0];
    uint8_t *rgba = rows->out[0];
    uint16_t *columns = rows->scratch;
    struct window window;
#pragma GCC unroll 2
    for (int i = 0; i < ahead; i++, in += BLOCK_BYTES, out += BLOCK_BYTES, columns += BLOCK_LANES)
        take_block(&window, avx2_load(in), avx2_load(out), columns, i);
    for (int i = 0; i < blocks * BLOCK_BYTES; i += BLOCK_BYTES) { // as many lanes
        avx2_fetch(next_in + i);
        avx2_fetch(next_out + i);
        take_block(&window, avx2_load(in + i), avx2_load(out + i), columns + i, ahead);
        const __m256i *twos = window.twos;
        const __m256i sum = sum_twos(twos, radius), next = move_sum(sum, twos, radius);
        const __m256i after = move_sum(next, twos + 1, radius);
        const __m256i means = _mm256_packus_epi16(mean(sum, next, twos[radius], factors, shift),
                                                  mean(next, after, twos[radius + 1], factors, shift));
        avx2_store(rgba + i, _mm256_blendv_epi8(means, avx2_load(centre + i), alpha));
#pragma GCC unroll 8
        for (int k = 0; k < 4 * ahead; k++)
            window.twos[k] = window.twos[k + 4];
    }
}

// The columns of a first row.
AVX2 static void begin_columns(int radius, const struct stencil_rows *rows, int blocks)
{
    const int side = 2 * radius + 1, period = BLOCK_LANES * side;
    uint16_t *columns = rows->scratch;
    for (int i = 0; i < BLOCK_LANES * blocks; i++) {
        const int two = i / VECTOR_LANES % 2 + i % VECTOR_LANES / 8 * 2;
        columns[i] =
            i < period ? blur_begin_column(radius, i / BLOCK_LANES * BLOCK + 2 * two + i % 8 / 4) : columns[i - period];
    }
    for (int row = 0; row < side; row++) {
        struct window unused;
        const uint8_t *in = rows->in[row] - 4 * radius;
        for (int i = 0; i < BLOCK_BYTES * blocks; i += BLOCK_BYTES)
            take_block(&unused, avx2_load(in + i), _mm256_setzero_si256(), columns + i, 0);
    }
}

AVX2 static void make_any_row(int radius, const struct stencil_rows *rows, int blocks)
{
    switch (radius) {
#define SMALL_CASE(radius, factor, shift)                                                                              \
    case radius:                                                                                                       \
        make_row(rows, blocks, radius, factor, shift);                                                                 \
        return;
        BLUR_SMALL_RADII(SMALL_CASE)
#undef SMALL_CASE
    }
}

// Of a row, as many as leave no square that reaches beyond it.
static int count_blocks(int radius, int width)
{
    const int blocks = (width + 2 * radius) / BLOCK - count_ahead(radius);
    return avx2_works() && blocks > 0 ? blocks : 0;
}

size_t blur_avx2_bytes(int radius, int width)
{
    return sizeof(uint16_t) * BLOCK_LANES * ((size_t)count_blocks(radius, width) + (size_t)count_ahead(radius));
}

int blur_avx2_row(int radius, const struct stencil_rows *rows)
{
    const int blocks = count_blocks(radius, rows->width);
    if (blocks == 0)
        return 0;
    if (rows->first)
        begin_columns(radius, rows, blocks + count_ahead(radius));
    make_any_row(radius, rows, blocks);
    return BLOCK * blocks;
}

#else

size_t blur_avx2_bytes(int radius, int width)
{
    return 0;
}

int blur_avx2_row(int radius, const struct stencil_rows *rows)
{
    return 0;
}

#endif
