// pass_block.cl: the pass of GPUs: a work-item makes a block of pixels, 4 wide, from 16-byte loads and registers
#ifndef PASS_WINDOW
#define PASS_WINDOW
#endif
#include "pass_io.cl"

#ifndef PASS_BLOCK_ROWS
#define PASS_BLOCK_ROWS 1
#endif

enum {
    BLOCK_WIDTH = 4,
    BLOCK_PIXELS = BLOCK_WIDTH * PASS_BLOCK_ROWS,
    WINDOW_WIDTH = BLOCK_WIDTH + 2 * PASS_RADIUS, // the radius is at most 4: one group of 4 on each side reaches it
    WINDOW_ROWS = PASS_BLOCK_ROWS + 2 * PASS_RADIUS,
};

// Pixels in registers are words: packed, or a grey picture's one value.
#ifdef PASS_GREY
#define TO_WORD(p) ((uint)(p).g)
#define FROM_WORD(word) grey_pixel(word)
#else
#define TO_WORD(p) pack(p)
#define FROM_WORD(word) unpack(word)
#endif

// The same for a pixel of the loader's, whose channels a conversion may have made one by one.
#if defined(YUV_CL) && !defined(PASS_GREY)
#define LOADED_TO_WORD(p) low_bytes((p).r, (p).g, (p).b, (p).a)
#else
#define LOADED_TO_WORD(p) TO_WORD(p)
#endif

INLINE pixel tap(struct view view, int dx, int dy)
{
    return FROM_WORD(view.window[(view.y + dy) * WINDOW_WIDTH + view.x + dx]);
}

// Four pixels of the pass's input; x is a multiple of 4.
INLINE void input4(struct source source, arguments args, int x, int y, uint *word)
{
    pixel p[4];
#ifdef PASS_LOAD_MIRROR
    for (int i = 0; i < 4; i++)
        p[i] =
            load(source, args, PASS_LOAD_X(min(x + i, source.width - 1), source.width), PASS_LOAD_Y(y, source.height));
#else
    load4(source, args, x, PASS_LOAD_Y(y, source.height), p);
#endif
    for (int i = 0; i < 4; i++)
        word[i] = LOADED_TO_WORD(PASS_BEFORE(p[i], args));
}

// A row of the window around x. `inside`: it and the group of four on each side are inside the picture, as is the row;
// otherwise pixel by pixel, the edge repeated.
INLINE void window_row(struct source source, arguments args, int x, int y, int inside, uint *row)
{
    if (inside) {
        uint word[3 * BLOCK_WIDTH];
        for (int i = 0; i < 3; i++)
            input4(source, args, x + (i - 1) * BLOCK_WIDTH, y, word + i * BLOCK_WIDTH);
        for (int i = 0; i < WINDOW_WIDTH; i++)
            row[i] = word[BLOCK_WIDTH - PASS_RADIUS + i];
    } else {
        y = clamp(y, 0, source.height - 1);
        for (int i = 0; i < WINDOW_WIDTH; i++)
            row[i] = TO_WORD(input(source, args, clamp(x + i - PASS_RADIUS, 0, source.width - 1), y));
    }
}

// Four pixels of the output; those beyond the right edge fall into the row's padding, or are left out.
INLINE void store4(DESTINATION to, layout layout, int x, int y, const pixel *p)
{
#if defined(PASS_TO_IMAGE) || defined(PASS_STORE_MIRROR)
    for (int i = 0; i < 4; i++) {
        if (x + i < layout.s0)
            store(to, layout, x + i, y, p[i]);
    }
#elif defined(PASS_TO_GREY)
    *(__global uint *)(to + PASS_STORE_Y(y, layout.s1) * layout.s7 + x) =
        (uint)p[0].g | (uint)p[1].g << 8 | (uint)p[2].g << 16 | (uint)p[3].g << 24;
#else
    *(__global uint4 *)(to + PASS_STORE_Y(y, layout.s1) * layout.s7 + x) =
        (uint4)(pack(p[0]), pack(p[1]), pack(p[2]), pack(p[3]));
#endif
}

INLINE void finish4(DESTINATION to, layout layout, arguments args, int x, int y, const uint *word)
{
    pixel p[BLOCK_WIDTH];
    for (int i = 0; i < BLOCK_WIDTH; i++)
        p[i] = PASS_AFTER(FROM_WORD(word[i]), args);
    store4(to, layout, x, y, p);
}

#ifdef PASS_POINTS // no stencil

// With rows a power of two and y a multiple of it, | is +, and lets compilers see that two rows have the same chroma.
INLINE void pass(struct source source, arguments args, DESTINATION to, layout layout, int x, int y)
{
    uint block[BLOCK_PIXELS];
    if (y + PASS_BLOCK_ROWS <= source.height) {
#pragma unroll
        for (int row = 0; row < PASS_BLOCK_ROWS; row++)
            input4(source, args, x, y | row, block + row * BLOCK_WIDTH);
#pragma unroll
        for (int row = 0; row < PASS_BLOCK_ROWS; row++)
            finish4(to, layout, args, x, y + row, block + row * BLOCK_WIDTH);
    } else {
#pragma unroll 1
        for (; y < source.height; y++) {
            input4(source, args, x, y, block);
            finish4(to, layout, args, x, y, block);
        }
    }
}

#else

INLINE void make_block(struct source source, arguments args, int x, int y, int inside, uint *block)
{
    uint window[WINDOW_ROWS * WINDOW_WIDTH];
#pragma unroll
    for (int row = 0; row < WINDOW_ROWS; row++)
        window_row(source, args, x, y + row - PASS_RADIUS, inside, window + row * WINDOW_WIDTH);
#ifdef FILTER_BLOCK
    FILTER_BLOCK(window, block);
#else
#pragma unroll
    for (int i = 0; i < BLOCK_PIXELS; i++) {
        struct view view;
        view.window = window;
        view.x = i % BLOCK_WIDTH + PASS_RADIUS;
        view.y = i / BLOCK_WIDTH + PASS_RADIUS;
        block[i] = TO_WORD(PASS_STENCIL(view, args));
    }
#endif
}

// `inside` is a literal: inside the picture nothing is looked at twice.
INLINE void pass_at(struct source source, arguments args, DESTINATION to, layout layout, int x, int y, int inside)
{
    uint block[BLOCK_PIXELS];
    make_block(source, args, x, y, inside, block);
#pragma unroll
    for (int row = 0; row < PASS_BLOCK_ROWS; row++) {
        if (inside || y + row < source.height)
            finish4(to, layout, args, x, y + row, block + row * BLOCK_WIDTH);
    }
}

INLINE void pass(struct source source, arguments args, DESTINATION to, layout layout, int x, int y)
{
    if (x >= BLOCK_WIDTH && x + 2 * BLOCK_WIDTH <= source.width && y >= PASS_RADIUS &&
        y + PASS_BLOCK_ROWS + PASS_RADIUS <= source.height)
        pass_at(source, args, to, layout, x, y, 1);
    else
        pass_at(source, args, to, layout, x, y, 0);
}

#endif

__kernel void pass_block(__global const uchar *restrict bytes, layout layout, __global const int *restrict args,
                         DESTINATION to)
{
    const struct source source = source_of(bytes, layout);
    const int x = get_global_id(0) * BLOCK_WIDTH, y = get_global_id(1) * PASS_BLOCK_ROWS;
    if (x < source.width && y < source.height)
        pass(source, args, to, layout, x, y);
}
