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
    WINDOW_WIDTH = BLOCK_WIDTH + 2 * PASS_RADIUS, // the radius is at most 4: one group of 4 on each side reaches it
    WINDOW_ROWS = PASS_BLOCK_ROWS + 2 * PASS_RADIUS,
};

INLINE pixel tap(struct view view, int dx, int dy)
{
    return unpack(view.window[(view.y + dy) * WINDOW_WIDTH + view.x + dx]);
}

// Four pixels of the pass's input; x is a multiple of 4.
INLINE void input4(struct source source, arguments args, int x, int y, pixel *p)
{
#ifdef PASS_LOAD_MIRROR
    for (int i = 0; i < 4; i++)
        p[i] = input(source, args, min(x + i, source.width - 1), y);
#else
    load4(source, args, x, PASS_LOAD_Y(y, source.height), p);
    for (int i = 0; i < 4; i++)
        p[i] = PASS_BEFORE(p[i], args);
#endif
}

// A row of the window: groups of four where all are inside the picture, pixel by pixel at its left and right edge.
INLINE void window_row(struct source source, arguments args, int x, int y, uint *row)
{
    y = clamp(y, 0, source.height - 1);
    if (x < 4 || x + 8 > source.width) {
        for (int i = 0; i < WINDOW_WIDTH; i++)
            row[i] = pack(input(source, args, clamp(x + i - PASS_RADIUS, 0, source.width - 1), y));
        return;
    }
    pixel p[12];
    input4(source, args, x - 4, y, p);
    input4(source, args, x, y, p + 4);
    input4(source, args, x + 4, y, p + 8);
    for (int i = 0; i < WINDOW_WIDTH; i++)
        row[i] = pack(p[4 - PASS_RADIUS + i]);
}

// Four pixels of the output; those beyond the right edge fall into the row's padding, or are left out.
INLINE void store4(DESTINATION to, layout layout, int x, int y, const pixel *p)
{
#if defined(PASS_TO_IMAGE) || defined(PASS_STORE_MIRROR)
    for (int i = 0; i < 4; i++) {
        if (x + i < layout.s0)
            store(to, layout, x + i, y, p[i]);
    }
#else
    __global uint4 *words = (__global uint4 *)(to + PASS_STORE_Y(y, layout.s1) * layout.s7 + x);
    *words = (uint4)(pack(p[0]), pack(p[1]), pack(p[2]), pack(p[3]));
#endif
}

__kernel void pass_block(__global const uchar *restrict bytes, layout layout, __global const int *restrict args,
                         DESTINATION to)
{
    const struct source source = source_of(bytes, layout);
    const int x = get_global_id(0) * BLOCK_WIDTH, y = get_global_id(1) * PASS_BLOCK_ROWS;
    if (x >= source.width || y >= source.height)
        return;
#ifdef PASS_POINTS // no stencil
#pragma unroll
    for (int row = 0; row < PASS_BLOCK_ROWS; row++) {
        pixel p[4];
        if (y + row < source.height) {
            input4(source, args, x, y + row, p);
            store4(to, layout, x, y + row, p);
        }
    }
#else
    uint window[WINDOW_ROWS * WINDOW_WIDTH];
#pragma unroll
    for (int row = 0; row < WINDOW_ROWS; row++)
        window_row(source, args, x, y + row - PASS_RADIUS, window + row * WINDOW_WIDTH);
    pixel block[PASS_BLOCK_ROWS * BLOCK_WIDTH];
#ifdef FILTER_BLOCK
    FILTER_BLOCK(window, block);
#else
#pragma unroll
    for (int i = 0; i < PASS_BLOCK_ROWS * BLOCK_WIDTH; i++) {
        struct view view;
        view.window = window;
        view.x = i % BLOCK_WIDTH + PASS_RADIUS;
        view.y = i / BLOCK_WIDTH + PASS_RADIUS;
        block[i] = PASS_STENCIL(view, args);
    }
#endif
#pragma unroll
    for (int row = 0; row < PASS_BLOCK_ROWS; row++) {
        for (int i = 0; i < BLOCK_WIDTH; i++)
            block[row * BLOCK_WIDTH + i] = PASS_AFTER(block[row * BLOCK_WIDTH + i], args);
        if (y + row < source.height)
            store4(to, layout, x, y + row, block + row * BLOCK_WIDTH);
    }
#endif
}
