// convolve_window.cl: convolution of a whole block, by dot products of four or two bytes with weights
#include "variants/dot.cl"

#define CONVOLVE_SIDE (2 * PASS_RADIUS + 1)

// Indices of the arguments, as in src/filter/convolve.h.
enum { CONVOLVE_SHIFT, CONVOLVE_OFFSET, CONVOLVE_NARROW, CONVOLVE_WEIGHTS };

#ifdef PASS_GREY
#define CONVOLVE_CHANNELS 1
#else
#define CONVOLVE_CHANNELS 3
#endif

// Returns a weight of a row of the square, cut to `bits` bits and shifted to bit `at`. It is 0 for a column outside the
// square.
INLINE uint convolve_weight(arguments row, int column, int bits, int at)
{
    return column >= 0 && column < CONVOLVE_SIDE ? ((uint)row[column] & ((1u << bits) - 1)) << at : 0;
}

// A block is computed channel by channel. A word holds one channel of four neighbours; CONVOLVE_WORDS words hold one
// channel of a row of the window.
enum {
    CONVOLVE_WIDTH = 4, // of a block
    CONVOLVE_REACH = CONVOLVE_WIDTH + 2 * PASS_RADIUS,
    CONVOLVE_ROWS = ROWS + 2 * PASS_RADIUS,
    CONVOLVE_WORDS = (CONVOLVE_REACH + 3) / 4,
    CONVOLVE_OUTPUTS = CONVOLVE_WIDTH * ROWS,
};

// Separates the channels of a row of the window: channels[c * CONVOLVE_WORDS + i] has pixels 4 i to 4 i + 3.
INLINE void convolve_channels(const uint *row, uint *channels)
{
#pragma unroll
    for (int i = 0; i < CONVOLVE_WORDS; i++) {
        uint word[4];
#pragma unroll
        for (int x = 0; x < 4; x++)
            word[x] = 4 * i + x < CONVOLVE_REACH ? row[4 * i + x] : 0;
#ifdef PASS_GREY
        channels[i] = low_bytes(word[0], word[1], word[2], word[3]);
#else
        channels4(word[0], word[1], word[2], word[3], &channels[i], &channels[CONVOLVE_WORDS + i],
                  &channels[2 * CONVOLVE_WORDS + i]);
#endif
    }
}

// Adds the products of a word and a row of the square to the sums of an output pixel. `column` is the column of the
// square at the word's first pixel.
INLINE void convolve_word(arguments row, int column, int narrow, const uint *channels, int *sum)
{
    uint weights = 0, upper = 0;
    if (narrow) {
#pragma unroll
        for (int i = 0; i < 4; i++)
            weights |= convolve_weight(row, column + i, 8, 8 * i);
    } else {
        weights = convolve_weight(row, column, 16, 0) | convolve_weight(row, column + 1, 16, 16);
        upper = convolve_weight(row, column + 2, 16, 0) | convolve_weight(row, column + 3, 16, 16);
    }
#pragma unroll
    for (int c = 0; c < CONVOLVE_CHANNELS; c++) {
        const uint bytes = channels[c * CONVOLVE_WORDS];
        if (narrow) {
            sum[c] = dot4(weights, bytes, sum[c]);
        } else {
            if (column + 1 >= 0 && column < CONVOLVE_SIDE)
                sum[c] = dot2_lower(weights, bytes, sum[c]);
            if (column + 3 >= 0 && column + 2 < CONVOLVE_SIDE)
                sum[c] = dot2_upper(upper, bytes, sum[c]);
        }
    }
}

INLINE uint convolve_pixel(arguments args, const int *sum, uint centre)
{
#ifdef PASS_GREY
    return sat8(sum[0] >> args[CONVOLVE_SHIFT]);
#else
    return saturated_bytes(sum[0] >> args[CONVOLVE_SHIFT], sum[1] >> args[CONVOLVE_SHIFT],
                           sum[2] >> args[CONVOLVE_SHIFT], centre >> 24);
#endif
}

// `narrow` is a literal: 1 if all weights fit 8 bits.
INLINE void convolve_sums(const uint *window, arguments args, int narrow, uint *block)
{
    int sum[CONVOLVE_OUTPUTS * CONVOLVE_CHANNELS];
#pragma unroll
    for (int i = 0; i < CONVOLVE_OUTPUTS * CONVOLVE_CHANNELS; i++)
        sum[i] = args[CONVOLVE_OFFSET];
#pragma unroll
    for (int y = 0; y < CONVOLVE_ROWS; y++) {
        uint channels[CONVOLVE_CHANNELS * CONVOLVE_WORDS];
        convolve_channels(window + y * CONVOLVE_REACH, channels);
#pragma unroll
        for (int at = 0; at < CONVOLVE_OUTPUTS; at++) {
            const int square_row = y - at / CONVOLVE_WIDTH;
            if (square_row < 0 || square_row >= CONVOLVE_SIDE)
                continue;
#pragma unroll
            for (int i = 0; i < CONVOLVE_WORDS; i++) {
                const int column = 4 * i - at % CONVOLVE_WIDTH;
                if (column + 3 >= 0 && column < CONVOLVE_SIDE)
                    convolve_word(args + CONVOLVE_WEIGHTS + square_row * CONVOLVE_SIDE, column, narrow, channels + i,
                                  sum + at * CONVOLVE_CHANNELS);
            }
        }
    }
#pragma unroll
    for (int at = 0; at < CONVOLVE_OUTPUTS; at++) {
        const int centre = (at / CONVOLVE_WIDTH + PASS_RADIUS) * CONVOLVE_REACH + at % CONVOLVE_WIDTH + PASS_RADIUS;
        block[at] = convolve_pixel(args, sum + at * CONVOLVE_CHANNELS, window[centre]);
    }
}

INLINE void PASS_STENCIL(const uint *window, arguments args, uint *block)
{
    if (args[CONVOLVE_NARROW])
        convolve_sums(window, args, 1, block);
    else
        convolve_sums(window, args, 0, block);
}
