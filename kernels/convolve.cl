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
#include "vectors.cl"
#ifdef OWN
#define LINES_TOGETHER 4
#else
#define LINES_TOGETHER 2 // fewer sums, for fewer registers
#endif
#include "lines.cl"

// As in src/filter/convolve_avx512.c: a 32-bit lane holds two values of a channel, a two, or two weights. Twos are
// neighbours in a row; of the last column, since columns are odd in number, a pixel and the one below it. They are made
// anew wherever they are needed, from loads that lie two bytes apart, and serve all rows that are made together.
enum {
    CONVOLVE_NONE = -1,
    CONVOLVE_BY_ROWS = CONVOLVE_SIDE * PASS_RADIUS,
    CONVOLVE_TWOS = CONVOLVE_BY_ROWS + 2 * (PASS_RADIUS + 1),
#if defined(PASS_GREY) || defined(PASS_ALIKE)
    CONVOLVE_COLOURS = 1,
#else
    CONVOLVE_COLOURS = 3,
#endif
};

// Weights of the two of column 2 k in row y of the square: weights[y * PASS_RADIUS + k]; those of the last column
// behind them, for even rows, whose squares begin with a two, and for odd ones, whose squares begin with its lower
// half.
typedef struct {
    uint weights[CONVOLVE_TWOS];
    int shift, offset;
} lines_state;

typedef int_vector convolve_row[CONVOLVE_COLOURS];

INLINE uint convolve_two(int first, int second)
{
    return (first & 0xffff) | (uint)second << 16;
}

INLINE void lines_begin(lines_state *state, arguments args)
{
    state->shift = args[CONVOLVE_SHIFT];
    state->offset = args[CONVOLVE_OFFSET];
    args += CONVOLVE_WEIGHTS;
    for (int y = 0; y < CONVOLVE_SIDE; y++)
        for (int k = 0; k < PASS_RADIUS; k++) {
            arguments at = args + y * CONVOLVE_SIDE + 2 * k;
            state->weights[y * PASS_RADIUS + k] = convolve_two(at[0], at[1]);
        }
    for (int i = 0; i <= PASS_RADIUS; i++) {
        arguments last = args + (2 * i + 1) * CONVOLVE_SIDE - 1; // those beyond the square are 0
        uint *to = state->weights + CONVOLVE_BY_ROWS + i;
        to[0] = convolve_two(last[0], i < PASS_RADIUS ? last[CONVOLVE_SIDE] : 0);
        to[PASS_RADIUS + 1] = convolve_two(i > 0 ? last[-CONVOLVE_SIDE] : 0, last[0]);
    }
}

INLINE void lines_take(lines_state *state, const lines_rows *rows, int first, int end) {}

// Adds the products of twos of red and green side by side, and of blue and alpha. `by` says where their weights are for
// each row, or CONVOLVE_NONE.
INLINE void convolve_weigh(convolve_row *sums, word_vector red_green, word_vector blue_alpha, const uint *weights,
                           const int *by)
{
    const word_vector twos[3] = {red_green & RED_BLUE, red_green >> 8 & RED_BLUE, blue_alpha & RED_BLUE};
#pragma unroll
    for (int i = 0; i < LINES_TOGETHER; i++) {
        if (by[i] == CONVOLVE_NONE)
            continue;
        const word_vector weight = (word_vector)weights[by[i]];
#pragma unroll
        for (int c = 0; c < CONVOLVE_COLOURS; c++)
            sums[i][c] = dot2_of_vector(weight, twos[c], sums[i][c]);
    }
}

// What row y in reach adds to the sums, by its columns but the last. `row` is the first pixel.
INLINE void convolve_along(convolve_row *sums, const uint *row, const uint *weights, int y)
{
#pragma unroll
    for (int k = 0; k < PASS_RADIUS; k++) {
        const word_vector left = WORDS_AT(row + 2 * k), right = WORDS_AT(row + 2 * k + 1);
        const word_vector middle = WORDS_AT((const ushort *)(row + 2 * k) + 1);
        int by[LINES_TOGETHER];
#pragma unroll
        for (int i = 0; i < LINES_TOGETHER; i++)
            by[i] = y >= i && y - i < CONVOLVE_SIDE ? (y - i) * PASS_RADIUS + k : CONVOLVE_NONE;
        convolve_weigh(sums, halves(left, middle), halves(middle, right), weights, by);
    }
}

// What rows y and y + 1 in reach add by the last column, of which `upper` and `lower` are the first pixels.
INLINE void convolve_down(convolve_row *sums, const uint *upper, const uint *lower, const uint *weights, int y)
{
    const word_vector up = WORDS_AT(upper), low = WORDS_AT(lower);
    int by[LINES_TOGETHER];
#pragma unroll
    for (int i = 0; i < LINES_TOGETHER; i++) {
        const int at = y - i / 2 * 2;
        by[i] = at >= 0 && at < CONVOLVE_SIDE ? CONVOLVE_BY_ROWS + i % 2 * (PASS_RADIUS + 1) + at / 2 : CONVOLVE_NONE;
    }
    convolve_weigh(sums, halves(up, low << 16), halves(up >> 16, low), weights, by);
}

INLINE void lines_make(lines_state *state, const lines_rows *rows, int first, int end)
{
    enum { RIGHT = 2 * PASS_RADIUS }; // column
    for (int at = first; at < end; at += VECTOR_WORDS) {
        convolve_row sums[LINES_TOGETHER];
#pragma unroll
        for (int i = 0; i < LINES_TOGETHER * CONVOLVE_COLOURS; i++)
            sums[i / CONVOLVE_COLOURS][i % CONVOLVE_COLOURS] = (int_vector)state->offset;
#pragma unroll
        for (int y = 0; y < CONVOLVE_SIDE - 1 + LINES_TOGETHER; y++) {
            const uint *row = rows->row[1 + y] + LINE_LEFT + at, *above = rows->row[y] + LINE_LEFT + at;
            convolve_along(sums, row, state->weights, y);
            if (y % 2 != 0)
                convolve_down(sums, above + RIGHT, row + RIGHT, state->weights, y - 1);
        }
#pragma unroll
        for (int i = 0; i < LINES_TOGETHER; i++)
            put_colours(join_saturated(sums[i][0] >> state->shift, sums[i][1 % CONVOLVE_COLOURS] >> state->shift,
                                       sums[i][2 % CONVOLVE_COLOURS] >> state->shift),
                        lines_centre(rows, i) + at, rows->to[i] + at - first);
    }
}

#endif
