// emboss.cl: relief; arguments: the 3x3 weights, -1, 0 or 1
#include "pixel.cl"

#ifndef PASS_LINES

// Neighbours that face each other have opposite weights: their differences, for one of each two.
#define FOR_PAIRS(ADD) ADD(1, 0) ADD(-1, 1) ADD(0, 1) ADD(1, 1)

// Sums lie between -765 and 765; with 128 + 1024 added they are what word_sum can hold.
#define EMBOSS_GREY 128
#define EMBOSS_SPARE 1024
#define EMBOSS_BIAS (EMBOSS_GREY + EMBOSS_SPARE)

INLINE pixel filter_emboss(struct view view, arguments args)
{
    pixel p = tap(view, 0, 0);
#ifdef PASS_ALIKE
    int sum = EMBOSS_GREY;
#define ADD(dx, dy) sum += args[3 * (dy) + (dx) + 4] * (tap(view, dx, dy).g - tap(view, -(dx), -(dy)).g);
    FOR_PAIRS(ADD)
#undef ADD
    p.r = p.g = p.b = sat8(sum);
#else
    struct word_sum sum;
    sum.all = EMBOSS_BIAS * 0x10101u;
    sum.red_blue = EMBOSS_BIAS * 0x10001u;
#define ADD(dx, dy)                                                                                                    \
    {                                                                                                                  \
        const uint w = (uint)args[3 * (dy) + (dx) + 4];                                                                \
        const uint word = pack(tap(view, dx, dy)), other = pack(tap(view, -(dx), -(dy)));                              \
        sum.all += w * (word - other);                                                                                 \
        sum.red_blue += w * ((word & RED_BLUE) - (other & RED_BLUE));                                                  \
    }
    FOR_PAIRS(ADD)
#undef ADD
    p.r = sat8((int)(sum.red_blue & 0xffff) - EMBOSS_SPARE);
    p.g = sat8((int)green_of(sum) - EMBOSS_SPARE);
    p.b = sat8((int)(sum.red_blue >> 16) - EMBOSS_SPARE);
#endif
    return p;
}

#else
#include "lines.cl"

enum { EMBOSS_SIDE = 3 };

// In which row and column the neighbours are whose weight is 1.
typedef struct {
    int y[EMBOSS_SIDE], x[EMBOSS_SIDE];
} lines_state;

INLINE void lines_begin(lines_state *state, arguments args)
{
    int count = 0;
    for (int i = 0; i < EMBOSS_SIDE * EMBOSS_SIDE; i++)
        if (args[i] > 0 && count < EMBOSS_SIDE) {
            state->y[count] = i / EMBOSS_SIDE;
            state->x[count++] = i % EMBOSS_SIDE;
        }
}

INLINE void lines_take(lines_state *state, const lines_rows *rows, int first, int end) {}

INLINE void lines_make(lines_state *state, const lines_rows *rows, int first, int end)
{
    const uint *centre = lines_centre(rows, 0);
    uint *line = rows->to[0];
    const uint *bright[EMBOSS_SIDE], *dark[EMBOSS_SIDE];
#pragma unroll
    for (int k = 0; k < EMBOSS_SIDE; k++) {
        bright[k] = rows->row[1 + state->y[k]] + LINE_LEFT + state->x[k];
        dark[k] = rows->row[EMBOSS_SIDE - state->y[k]] + LINE_LEFT + EMBOSS_SIDE - 1 - state->x[k];
    }
    for (int i = first; i < end; i += VECTOR_WORDS) {
        of_bytes sums;
        sums.a = sums.b = (short_vector)128;
#pragma unroll
        for (int k = 0; k < EMBOSS_SIDE; k++)
            sums = add_of_bytes(sums, weigh_bytes(WORDS_AT(bright[k] + i), 1, WORDS_AT(dark[k] + i), -1));
        put_colours(bytes_of(sums), centre + i, line + i - first);
    }
}

#endif
