// convolve_avx2.c: convolutions in whole numbers with AVX2: 16 products and 8 of their sums an instruction
//
// Input rows are taken in twos: for each channel, a 32-bit lane holds a pixel's value in its lower half and that of the
// pixel below in its upper half. With two weights in a lane likewise, one instruction makes both products and their
// sum. Two output rows are made at a time, from the same loads.
//
// Taking rows apart into such lanes is done strip by strip, one strip ahead of the one that is multiplied: lanes then
// are in the level 1 cache when they are read. It is done little by little between products, so that the processor
// works on both at once.
#include "filter/convolve.h"

#include "filter/rows.h"
#include "filter/stencil_avx2.h"

#ifdef HAVE_AVX2

enum {
    CHANNELS = 3,
    SIDE_MAX = 9,
    TWOS_MAX = SIDE_MAX / 2 + 1, // a two is a pair of input rows
    LANES = 8,
    VECTORS = 2, // of each channel and output row at a time: 12 sums, and 4 registers to make them
    BLOCK = VECTORS * LANES,
    STRIP_MAX = TWOS_MAX * BLOCK,
};

// Of a convolution with a small radius, a strip is short: as many blocks as there are twos.
struct strip {
    int32_t lanes[TWOS_MAX][CHANNELS][STRIP_MAX + LANES]; // with what is in reach
};

// Of each two in the first output row and in the second, which is one further down.
struct weights {
    int32_t of[TWOS_MAX][SIDE_MAX][2];
};

bool convolve_avx2_fits(int width)
{
    return avx2_works() && width >= STRIP_MAX;
}

static int32_t two_weights(int32_t upper, int32_t lower)
{
    return (int32_t)((uint32_t)(uint16_t)upper | (uint32_t)lower << 16);
}

static void arrange(struct weights *to, const int32_t *weights, int radius)
{
    const int side = 2 * radius + 1;
    for (int i = 0; i <= radius; i++)
        for (int x = 0; x < side; x++) {
            const int32_t *middle = weights + 2 * i * side + x; // of the upper row; those beyond the square are 0
            to->of[i][x][0] = two_weights(middle[0], i < radius ? middle[side] : 0);
            to->of[i][x][1] = two_weights(i > 0 ? middle[-side] : 0, middle[0]);
        }
}

// A block of a strip of a two, the strip's output beginning at pixel `at`; with the last one, what is in reach of it.
AVX2_INLINE void spread(int32_t (*lanes)[STRIP_MAX + LANES], const uint8_t *const *two, int at, int block, int radius)
{
    const int pixels = BLOCK * (radius + 1) + 2 * radius;
    const uint8_t *upper_row = two[0] + 4 * (at - radius), *lower_row = two[1] + 4 * (at - radius);
    const __m256i even_bytes = _mm256_set1_epi16(0xff);
#pragma GCC unroll 3
    for (int i = 0; i <= VECTORS; i++) {
        if (i == VECTORS && block < radius)
            break;
        const int x = i < VECTORS ? BLOCK * block + LANES * i : pixels - LANES;
        __m256i upper = avx2_load(upper_row + 4 * x), lower = avx2_load(lower_row + 4 * x);
        __asm__("" : "+x"(upper), "+x"(lower)); // or compilers load each twice
        const __m256i red_green = _mm256_blend_epi16(upper, _mm256_slli_epi32(lower, 16), 0xaa);
        const __m256i blue_alpha = _mm256_blend_epi16(_mm256_srli_epi32(upper, 16), lower, 0xaa);
        avx2_store(&lanes[0][x], _mm256_and_si256(red_green, even_bytes));
        avx2_store(&lanes[1][x], _mm256_srli_epi16(red_green, 8));
        avx2_store(&lanes[2][x], _mm256_and_si256(blue_alpha, even_bytes));
    }
}

// Said outright, since compilers would multiply everything before they add, for which there are too few registers.
AVX2_INLINE void add_products(__m256i *sum, __m256i values, __m256i weights)
{
    __m256i products;
    __asm__ volatile("vpmaddwd %2, %3, %1\n\t"
                     "vpaddd %1, %0, %0"
                     : "+x"(*sum), "=&x"(products)
                     : "x"(values), "x"(weights));
}

// 8 pixels' sums shifted and saturated, with the centres' alpha.
AVX2_INLINE void join(uint8_t *rgba, const uint8_t *centre, const __m256i *sums, int shift)
{
    const __m128i bits = _mm_cvtsi32_si128(shift);
    const __m256i order =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 8, 4, 12, 1, 9, 5, 13, 2, 10, 6, 14, 3, 11, 7, 15));
    const __m256i alpha = _mm256_set1_epi32((int32_t)0xff000000u);
    const __m256i red = _mm256_sra_epi32(sums[0], bits);
    const __m256i green = _mm256_sra_epi32(sums[1], bits);
    const __m256i blue = _mm256_sra_epi32(sums[2], bits);
    const __m256i all = _mm256_packus_epi16(_mm256_packs_epi32(red, blue), _mm256_packs_epi32(green, green));
    avx2_store(rgba, _mm256_blendv_epi8(_mm256_shuffle_epi8(all, order), avx2_load(centre), alpha));
}

// A block: from `x` on in its strip and from pixel `at` on in both output rows; and the strip that is taken apart
// meanwhile, whose output begins at pixel `next_at`.
struct block {
    const struct strip *strip;
    struct strip *next;
    int x, at, next_at;
};

AVX2_INLINE void weigh(const struct filter_arguments *arguments, const struct stencil_rows *rows,
                       const struct weights *weights, struct block block, int radius)
{
    const int shift = arguments->value[CONVOLVE_SHIFT];
    __m256i sums[2][VECTORS][CHANNELS];
#pragma GCC unroll 12
    for (int i = 0; i < 2 * VECTORS * CHANNELS; i++)
        sums[i % 2][i / 2 / CHANNELS][i / 2 % CHANNELS] = _mm256_set1_epi32(arguments->value[CONVOLVE_OFFSET]);
    for (int k = 0; k <= radius; k++) {
        spread(block.next->lanes[k], rows->in + 2 * k, block.next_at, block.x / BLOCK, radius);
#pragma GCC unroll 9
        for (int dx = 0; dx <= 2 * radius; dx++) {
            const __m256i first = _mm256_set1_epi32(weights->of[k][dx][0]);
            const __m256i second = _mm256_set1_epi32(weights->of[k][dx][1]);
#pragma GCC unroll 6
            for (int i = 0; i < VECTORS * CHANNELS; i++) {
                const int v = i / CHANNELS, c = i % CHANNELS;
                const __m256i values = avx2_load(&block.strip->lanes[k][c][block.x + LANES * v + dx]);
                add_products(&sums[0][v][c], values, first);
                add_products(&sums[1][v][c], values, second);
            }
        }
    }
#pragma GCC unroll 2
    for (int v = 0; v < VECTORS; v++) {
        const int byte = 4 * (block.at + LANES * v);
        join(rows->out[0] + byte, rows->in[radius] + byte, sums[0][v], shift);
        join(rows->out[1] + byte, rows->in[radius + 1] + byte, sums[1][v], shift);
    }
}

AVX2_INLINE void make_rows(const struct filter_arguments *arguments, const struct stencil_rows *rows, int radius)
{
    const int blocks = radius + 1, size = BLOCK * blocks, last = rows->width - size;
    const struct next_rows next = rows->next; // a copy, which no store can change
    struct weights weights;
    arrange(&weights, arguments->value + CONVOLVE_WEIGHTS, radius);
    _Alignas(64) struct strip strip[2];
    for (int k = 0; k < blocks; k++) // as many twos
        for (int block = 0; block < blocks; block++)
            spread(strip[0].lanes[k], rows->in + 2 * k, 0, block, radius);
    for (int i = 0, at = 0, done = 0; !done; i++) {
        const int next_at = at + size < last ? at + size : last; // the last strip may begin early
        for (int k = 0; k < blocks; k++) {
            const int x = BLOCK * k, byte = 4 * (at + x);
            row_fetch_next(&next, 2, byte);
            const struct block block = {&strip[i % 2], &strip[(i + 1) % 2], x, at + x, next_at};
            weigh(arguments, rows, &weights, block, radius);
        }
        done = at == last;
        at = next_at;
    }
}

#define MAKE(radius)                                                                                                   \
    AVX2 static void make_##radius(const struct filter_arguments *arguments, const struct stencil_rows *rows)          \
    {                                                                                                                  \
        make_rows(arguments, rows, radius);                                                                            \
    }
MAKE(0)
MAKE(1)
MAKE(2)
MAKE(3)
MAKE(4)
#undef MAKE

void convolve_avx2_rows(const struct filter_arguments *arguments, const struct stencil_rows *rows)
{
    typedef void make_function(const struct filter_arguments *arguments, const struct stencil_rows *rows);
    static make_function *const make[] = {make_0, make_1, make_2, make_3, make_4};
    for (int i = 0; i < STENCIL_ROWS; i += 2) {
        const struct stencil_rows two = rows_below(rows, i);
        make[arguments->radius](arguments, &two);
    }
}

#else

bool convolve_avx2_fits(int width)
{
    return false;
}

void convolve_avx2_rows(const struct filter_arguments *arguments, const struct stencil_rows *rows) {}

#endif
