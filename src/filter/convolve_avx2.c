// convolve_avx2.c: convolutions in whole numbers with AVX2: 16 products and 8 of their sums an instruction
//
// Two rows lie side by side, channel by channel: a 32-bit lane holds a pixel's value and that of the pixel below. With
// weights likewise an instruction multiplies both and adds them. Output rows are made by twos: when the first is due,
// the second is made too as far as rows are there, from the same loads.
#include "filter/convolve.h"

#include "base/avx2.h"

#ifdef HAVE_AVX2
#include <string.h>

enum { CHANNELS = 3, SIDE_MAX = 9, TWOS_MAX = SIDE_MAX / 2 + 1, LANES = 8, VECTORS = 4, BLOCK = VECTORS * LANES };

// Kept from row to row. A two is a pair of input rows.
struct convolution {
    bool second;                                // the next output row is the second of its pair
    int oldest;                                 // place of the uppermost two
    int32_t first_weights[TWOS_MAX][SIDE_MAX];  // of each two in the first output row, ...
    int32_t second_weights[TWOS_MAX][SIDE_MAX]; // ... and in the second, one row further down
    int32_t lanes[]; // radius + 1 twos of CHANNELS of width + 2 * radius, then CHANNELS of width: the second row so far
};

size_t convolve_avx2_bytes(int radius, int width)
{
    const size_t pixels = (size_t)width + 2 * (size_t)radius;
    return sizeof(struct convolution) + CHANNELS * (((size_t)radius + 1) * pixels + (size_t)width) * sizeof(int32_t);
}

bool convolve_avx2_fits(int width)
{
    return avx2_works() && width >= BLOCK;
}

static int32_t two_weights(int32_t upper, int32_t lower)
{
    return (int32_t)((uint32_t)(uint16_t)upper | (uint32_t)lower << 16);
}

static void begin(struct convolution *to, const int32_t *weights, int radius)
{
    const int side = 2 * radius + 1;
    to->second = false;
    to->oldest = 0;
    for (int i = 0; i <= radius; i++)
        for (int x = 0; x < side; x++) {
            const int32_t *middle = weights + 2 * i * side + x; // of the upper row; those beyond the square are 0
            to->first_weights[i][x] = two_weights(middle[0], i < radius ? middle[side] : 0);
            to->second_weights[i][x] = two_weights(i > 0 ? middle[-side] : 0, middle[0]);
        }
}

// A row of pixels into the upper or, added, the lower row of a two.
AVX2 static void spread(int32_t *lanes, const uint8_t *rgba, int pixels, bool lower)
{
    const char none = (char)0x80;
    const __m256i upper_places = _mm256_broadcastsi128_si256(
        _mm_setr_epi8(0, none, none, none, 4, none, none, none, 8, none, none, none, 12, none, none, none));
    const __m256i places = lower ? _mm256_slli_epi32(upper_places, 16) : upper_places;
    const __m256i unused = _mm256_set1_epi32(lower ? 0x00008080 : 0);
    for (int x = 0; x < pixels; x += LANES) {
        const int at = x + LANES <= pixels ? x : pixels - LANES;
        const __m256i pixel = avx2_load(rgba + 4 * at);
#pragma GCC unroll 3
        for (int c = 0; c < CHANNELS; c++) {
            int32_t *to = lanes + c * pixels + at;
            const __m256i channel = _mm256_add_epi8(_mm256_or_si256(places, unused), _mm256_set1_epi8((char)c));
            const __m256i value = _mm256_shuffle_epi8(pixel, channel);
            avx2_store(to, lower ? _mm256_or_si256(avx2_load(to), value) : value);
        }
    }
}

// Has a value in its register before anything else is loaded. Compilers would load what two products share twice, and
// multiply everything before they add, for which there are too few registers.
AVX2_INLINE void settle(__m256i *value)
{
    __asm__ volatile("" : "+x"(*value) : : "memory");
}

// Sums of one output row over a two, and over one both rows share; `side` is a constant where these are inlined.
AVX2_INLINE void add_taps(__m256i *sum, const int32_t *lanes, const int32_t *weights, int side)
{
#pragma GCC unroll 9
    for (int x = 0; x < side; x++) {
        const __m256i weight = _mm256_set1_epi32(weights[x]);
#pragma GCC unroll 4
        for (int i = 0; i < VECTORS; i++) {
            sum[i] = _mm256_add_epi32(sum[i], _mm256_madd_epi16(avx2_load(lanes + x + LANES * i), weight));
            settle(&sum[i]);
        }
    }
}

AVX2_INLINE void add_shared_taps(__m256i *first, __m256i *second, const int32_t *lanes, const int32_t *first_weights,
                                 const int32_t *second_weights, int side)
{
#pragma GCC unroll 9
    for (int x = 0; x < side; x++) {
        const __m256i a = _mm256_set1_epi32(first_weights[x]), b = _mm256_set1_epi32(second_weights[x]);
#pragma GCC unroll 4
        for (int i = 0; i < VECTORS; i++) {
            __m256i values = avx2_load(lanes + x + LANES * i);
            settle(&values);
            first[i] = _mm256_add_epi32(first[i], _mm256_madd_epi16(values, a));
            second[i] = _mm256_add_epi32(second[i], _mm256_madd_epi16(values, b));
            settle(&first[i]);
            settle(&second[i]);
        }
    }
}

// A channel of a block.
struct block {
    const struct convolution *kept;
    const int32_t *const *twos; // from the uppermost on
    size_t at;                  // where in each
    int32_t *so_far;
    int32_t offset;
    int32_t *sums; // what is made
};

AVX2_INLINE void weigh_block(const struct block *block, int radius)
{
    const struct convolution *kept = block->kept;
    const int side = 2 * radius + 1;
    __m256i first[VECTORS], second[VECTORS];
    if (kept->second) {
#pragma GCC unroll 4
        for (int i = 0; i < VECTORS; i++)
            first[i] = avx2_load(block->so_far + LANES * i);
        add_taps(first, block->twos[radius] + block->at, kept->second_weights[radius], side);
    } else {
#pragma GCC unroll 4
        for (int i = 0; i < VECTORS; i++)
            first[i] = second[i] = _mm256_set1_epi32(block->offset);
        for (int k = 0; k < radius; k++)
            add_shared_taps(first, second, block->twos[k] + block->at, kept->first_weights[k], kept->second_weights[k],
                            side);
        add_taps(first, block->twos[radius] + block->at, kept->first_weights[radius], side);
#pragma GCC unroll 4
        for (int i = 0; i < VECTORS; i++)
            avx2_store(block->so_far + LANES * i, second[i]);
    }
#pragma GCC unroll 4
    for (int i = 0; i < VECTORS; i++)
        avx2_store(block->sums + LANES * i, first[i]);
}

#define WEIGH(radius)                                                                                                  \
    AVX2 static void weigh_##radius(const struct block *block)                                                         \
    {                                                                                                                  \
        weigh_block(block, radius);                                                                                    \
    }
WEIGH(0)
WEIGH(1)
WEIGH(2)
WEIGH(3)
WEIGH(4)
#undef WEIGH
static void (*const weigh[TWOS_MAX])(const struct block *block) = {weigh_0, weigh_1, weigh_2, weigh_3, weigh_4};

// Sums shifted and saturated, with the centre's alpha.
AVX2 static void join_block(uint8_t *rgba, const uint8_t *centre, int32_t (*sums)[BLOCK], int shift)
{
    const __m128i bits = _mm_cvtsi32_si128(shift);
    const __m256i order =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 8, 4, 12, 1, 9, 5, 13, 2, 10, 6, 14, 3, 11, 7, 15));
    const __m256i alpha = _mm256_set1_epi32((int32_t)0xff000000u);
    for (int x = 0; x < BLOCK; x += LANES) {
        const __m256i red = _mm256_sra_epi32(avx2_load(sums[0] + x), bits);
        const __m256i green = _mm256_sra_epi32(avx2_load(sums[1] + x), bits);
        const __m256i blue = _mm256_sra_epi32(avx2_load(sums[2] + x), bits);
        const __m256i all = _mm256_packus_epi16(_mm256_packs_epi32(red, blue), _mm256_packs_epi32(green, green));
        const __m256i pixels = _mm256_shuffle_epi8(all, order);
        avx2_store(rgba + 4 * x, _mm256_blendv_epi8(pixels, avx2_load(centre + 4 * x), alpha));
    }
}

void convolve_avx2_row(const struct filter_arguments *arguments, const struct stencil_rows *rows)
{
    const int radius = arguments->radius, twos = radius + 1, width = rows->width, pixels = width + 2 * radius;
    struct convolution *kept = rows->scratch;
    const size_t two_lanes = CHANNELS * (size_t)pixels;
    if (rows->first)
        begin(kept, arguments->value + CONVOLVE_WEIGHTS, radius);
    else if (!kept->second)
        kept->oldest = (kept->oldest + 1) % twos;
    for (int i = rows->first ? 0 : 2 * radius; i <= 2 * radius; i++) {
        const int row = i + kept->second; // from the uppermost two's first
        spread(kept->lanes + (size_t)((kept->oldest + row / 2) % twos) * two_lanes, rows->in[i] - 4 * radius, pixels,
               row % 2 != 0);
    }
    const int32_t *two[TWOS_MAX];
    for (int k = 0; k < twos; k++)
        two[k] = kept->lanes + (size_t)((kept->oldest + k) % twos) * two_lanes;
    int32_t *so_far = kept->lanes + (size_t)twos * two_lanes;
    for (int x = 0; x < width; x += BLOCK) {
        const int at = x + BLOCK <= width ? x : width - BLOCK; // the last block may begin early
        int32_t sums[CHANNELS][BLOCK];
        for (int c = 0; c < CHANNELS; c++) {
            const struct block block = {
                .kept = kept,
                .twos = two,
                .at = (size_t)(c * pixels + at),
                .so_far = so_far + c * width + at,
                .offset = arguments->value[CONVOLVE_OFFSET],
                .sums = sums[c],
            };
            weigh[radius](&block);
        }
        join_block(rows->out + 4 * at, rows->in[radius] + 4 * at, sums, arguments->value[CONVOLVE_SHIFT]);
    }
    kept->second = !kept->second;
}

#else

size_t convolve_avx2_bytes(int radius, int width)
{
    return 0;
}

bool convolve_avx2_fits(int width)
{
    return false;
}

void convolve_avx2_row(const struct filter_arguments *arguments, const struct stencil_rows *rows) {}

#endif
