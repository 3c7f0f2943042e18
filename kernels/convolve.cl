// convolve.cl: weighted square in fixed point; arguments: shift, offset, whether weights fit 8 bits, weights row by row
#include "dot.cl"
#include "pixel.cl"
#include "square.cl"

#define CONVOLVE_SIDE (2 * PASS_RADIUS + 1)

// The arguments' places, as in src/filter/convolve.c.
enum { CONVOLVE_SHIFT, CONVOLVE_OFFSET, CONVOLVE_NARROW, CONVOLVE_WEIGHTS };

#ifndef PASS_LINES

INLINE pixel filter_convolve(struct view view, arguments args)
{
    int r = args[CONVOLVE_OFFSET], g = args[CONVOLVE_OFFSET], b = args[CONVOLVE_OFFSET];
#define ADD(dx, dy)                                                                                                    \
    {                                                                                                                  \
        const int w = args[CONVOLVE_WEIGHTS + ((dy) + PASS_RADIUS) * CONVOLVE_SIDE + (dx) + PASS_RADIUS];              \
        const pixel t = tap(view, dx, dy);                                                                             \
        r += w * t.r;                                                                                                  \
        g += w * t.g;                                                                                                  \
        b += w * t.b;                                                                                                  \
    }
    FOR_SQUARE(ADD)
#undef ADD
    pixel p = tap(view, 0, 0);
    p.r = sat8(r >> args[CONVOLVE_SHIFT]);
    p.g = sat8(g >> args[CONVOLVE_SHIFT]);
    p.b = sat8(b >> args[CONVOLVE_SHIFT]);
    return p;
}

#endif

#ifdef PASS_GREY
#define CONVOLVE_CHANNELS 1
#else
#define CONVOLVE_CHANNELS 3
#endif

// A weight of a row of the square, cut to `bits` bits and put at bit `at`; 0 for a column beyond the row's ends.
INLINE uint convolve_weight(arguments row, int column, int bits, int at)
{
    return column >= 0 && column < CONVOLVE_SIDE ? ((uint)row[column] & ((1u << bits) - 1)) << at : 0;
}

#ifdef PASS_WINDOW

// A block is made channel by channel, from words of four neighbours' bytes; WORDS of them hold a row of the window.
enum {
    CONVOLVE_WIDTH = 4, // of a block
    CONVOLVE_REACH = CONVOLVE_WIDTH + 2 * PASS_RADIUS,
    CONVOLVE_ROWS = PASS_BLOCK_ROWS + 2 * PASS_RADIUS,
    CONVOLVE_WORDS = (CONVOLVE_REACH + 3) / 4,
    CONVOLVE_OUTPUTS = CONVOLVE_WIDTH * PASS_BLOCK_ROWS,
};

// A row of the window: channels[c * CONVOLVE_WORDS + i] has pixels 4 i to 4 i + 3.
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

// Adds a row of the square to an output's sums; `column` is the one that the word's first pixel has.
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

// `narrow` is a literal.
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

INLINE void convolve_block(const uint *window, arguments args, uint *block)
{
    if (args[CONVOLVE_NARROW])
        convolve_sums(window, args, 1, block);
    else
        convolve_sums(window, args, 0, block);
}

#define FILTER_BLOCK(window, args, block) convolve_block(window, args, block)

#endif

#ifdef PASS_LINES
#include "lines.cl"

// A channel's values of two neighbours lie in a word, 16 bits each; weights likewise, for the pixel at the left of two
// and for the one at the right, whose square begins a column later: in the same word's second half, or in the next.
enum { CONVOLVE_ODD = LINE_LEFT % 2 };

typedef struct {
    uint8 left[CONVOLVE_SIDE][PASS_RADIUS + 1], right[CONVOLVE_SIDE][PASS_RADIUS + 1];
    uint words[CONVOLVE_SIDE][CONVOLVE_CHANNELS][LINE_ROOM / 2]; // of the rows in reach
    int shift, offset;
} lines_state;

// Those of `column` and the next one, in every lane.
INLINE uint8 convolve_two(arguments row, int column)
{
    return (uint8)(convolve_weight(row, column, 16, 0) | convolve_weight(row, column + 1, 16, 16));
}

INLINE void lines_begin(lines_state *state, arguments args)
{
    state->shift = args[CONVOLVE_SHIFT];
    state->offset = args[CONVOLVE_OFFSET];
    for (int y = 0; y < CONVOLVE_SIDE; y++)
        for (int i = 0; i <= PASS_RADIUS; i++) {
            state->left[y][i] = convolve_two(args + CONVOLVE_WEIGHTS + y * CONVOLVE_SIDE, 2 * i - CONVOLVE_ODD);
            state->right[y][i] = convolve_two(args + CONVOLVE_WEIGHTS + y * CONVOLVE_SIDE, 2 * i - !CONVOLVE_ODD);
        }
}

INLINE void lines_take(lines_state *state, int row, const uint *in, const uint *out, int first, int end)
{
    uint(*words)[LINE_ROOM / 2] = state->words[row % CONVOLVE_SIDE];
    for (int i = first; i < end; i += LINE_STEP) {
        const uint8 a = vload8(0, in + i), b = vload8(1, in + i);
        const uint8 left = (uint8)(a.even, b.even), right = (uint8)(a.odd, b.odd);
        const uint8 red_green = (left & 0xffff) | right << 16;
        vstore8(red_green & RED_BLUE, 0, words[0] + i / 2);
#ifndef PASS_GREY
        const uint8 blue_alpha = left >> 16 | (right & 0xffff0000);
        vstore8(red_green >> 8 & RED_BLUE, 0, words[1] + i / 2);
        vstore8(blue_alpha & RED_BLUE, 0, words[2] + i / 2);
#endif
    }
}

// Pixels without alpha.
INLINE uint8 convolve_pixels(const int8 *sum, int shift)
{
    uint8 pixels = 0;
#pragma unroll
    for (int c = 0; c < 3; c++)
        pixels |= as_uint8(min(max(sum[c % CONVOLVE_CHANNELS] >> shift, 0), 255)) << 8 * c;
    return pixels;
}

// Neighbours side by side, and the centres' alpha.
INLINE void convolve_store(uint4 left, uint4 right, const uint *centre, uint *line)
{
    const uint8 pixels = (uint8)(left.s0, right.s0, left.s1, right.s1, left.s2, right.s2, left.s3, right.s3);
    vstore8(pixels | (vload8(0, centre) & 0xff000000), 0, line);
}

INLINE void lines_make(lines_state *state, int row, const uint *in, const uint *out, const uint *centre, int first,
                       int end, uint *line)
{
    lines_take(state, row, in, out, first + 2 * LINE_REACH, end + 2 * LINE_REACH);
    const uint *words[CONVOLVE_SIDE];
    for (int y = 0; y < CONVOLVE_SIDE; y++)
        words[y] = state->words[(row + 1 + y) % CONVOLVE_SIDE][0];
    for (int i = first; i < end; i += LINE_STEP) {
        int8 left[CONVOLVE_CHANNELS], right[CONVOLVE_CHANNELS];
#pragma unroll
        for (int c = 0; c < CONVOLVE_CHANNELS; c++)
            left[c] = right[c] = state->offset;
#pragma unroll
        for (int at = 0; at < CONVOLVE_SIDE * (PASS_RADIUS + 1); at++) {
            const int y = at / (PASS_RADIUS + 1), k = at % (PASS_RADIUS + 1);
#pragma unroll
            for (int c = 0; c < CONVOLVE_CHANNELS; c++) {
                const uint *two = words[y] + c * (LINE_ROOM / 2) + (i + LINE_LEFT) / 2 + k;
                left[c] = dot2_words(state->left[y][k], vload8(0, two), left[c]);
                right[c] = dot2_words(state->right[y][k], vload8(0, two + CONVOLVE_ODD), right[c]);
            }
        }
        const uint8 lefts = convolve_pixels(left, state->shift), rights = convolve_pixels(right, state->shift);
        convolve_store(lefts.lo, rights.lo, centre + i, line + i - first);
        convolve_store(lefts.hi, rights.hi, centre + i + LINE_STEP / 2, line + i - first + LINE_STEP / 2);
    }
}

#endif
