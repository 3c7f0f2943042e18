// sharpen.cl: argument: amount in 8 bits of fraction
#include "pixel.cl"

#ifndef PASS_LINES

INLINE int push(int centre, int neighbours, int amount)
{
    return sat8(centre + ((amount * (4 * centre - neighbours) + 128) >> 8));
}

INLINE pixel filter_sharpen(struct view view, arguments args)
{
    const pixel n = tap(view, 0, -1), e = tap(view, 1, 0), s = tap(view, 0, 1), w = tap(view, -1, 0);
    pixel p = tap(view, 0, 0);
    p.r = push(p.r, n.r + e.r + s.r + w.r, args[0]);
    p.g = push(p.g, n.g + e.g + s.g + w.g, args[0]);
    p.b = push(p.b, n.b + e.b + s.b + w.b, args[0]);
    return p;
}

#else
#include "lines.cl"

typedef struct {
    short amount; // in 10 bits of fraction
} lines_state;

INLINE void lines_begin(lines_state *state, arguments args)
{
    state->amount = (short)(args[0] * 4);
}

INLINE void lines_take(lines_state *state, const lines_rows *rows, int first, int end) {}

// 32 times what the centre is away from its neighbours fits 16 bits.
INLINE void lines_make(lines_state *state, const lines_rows *rows, int first, int end)
{
    const uint *centre = lines_centre(rows, 0);
    uint *line = rows->to[0];
    const uint *above = rows->row[1] + LINE_LEFT + 1, *left = rows->row[2] + LINE_LEFT,
               *below = rows->row[3] + LINE_LEFT + 1;
    for (int i = first; i < end; i += VECTOR_WORDS) {
        const word_vector pixels = WORDS_AT(centre + i);
        const of_bytes vertical = weigh_bytes(WORDS_AT(above + i), -32, WORDS_AT(below + i), -32);
        const of_bytes horizontal = weigh_bytes(WORDS_AT(left + i), -32, WORDS_AT(left + i + 2), -32);
        const of_bytes away = add_of_bytes(weigh_bytes(pixels, 64, pixels, 64), add_of_bytes(vertical, horizontal));
        of_bytes sharp = weigh_bytes(pixels, 1, pixels, 0);
        sharp.a += rounded_products(away.a, state->amount);
        sharp.b += rounded_products(away.b, state->amount);
        put_colours(bytes_of(sharp), centre + i, line + i - first);
    }
}

#endif
