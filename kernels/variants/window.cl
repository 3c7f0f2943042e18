// window.cl: the pass for GPUs: a work-item makes a block of pixels, 4 pixels wide
//
// A work-item loads 16 bytes at a time. It keeps the stencil's input in registers: the window, which is the block and
// the pixels within the radius around it. With a tile, the work-group makes the stencil's input once, in local memory.
// A filter with a file variants/NAME_window.cl computes the whole block at once (PASS_WINDOW_FILTER); other filters
// compute it pixel by pixel.
#ifndef PASS_RADIUS
#define PASS_RADIUS 0
#endif
#ifndef ROWS
#define ROWS 1 // rows of a block
#endif
#ifndef GROUP_WIDTH
#define GROUP_WIDTH 32 // the largest work-group; with a tile, the only one
#define GROUP_HEIGHT 4
#endif
#ifndef TILE
#define TILE 1 // 1: no tile; 2: a tile; 3: a tile whose rows have padding
#endif
#if TILE > 1
#define PASS_TILE
#endif
#define GROUP_ITEMS (GROUP_WIDTH * GROUP_HEIGHT)
#include "variants/block_io.cl"

enum {
    BLOCK_PIXELS = BLOCK_WIDTH * ROWS,
    WINDOW_WIDTH = BLOCK_WIDTH + 2 * PASS_RADIUS, // the radius is at most 4: one group of 4 on each side reaches it
    WINDOW_ROWS = ROWS + 2 * PASS_RADIUS,
};

// Loads a row of the window around x. `inside` is a literal: 1 if the row and the four pixels on each side of the block
// are inside the picture. Otherwise this loads pixel by pixel and repeats the edge pixels.
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

// Writes a block to a buffer. `inside` is a literal: 1 if all rows of the block are inside the picture. The whole
// work-group writes an image later.
INLINE void finish_block(DESTINATION to, layout layout, arguments args, int x, int y, int inside, const uint *block)
{
#ifndef PASS_TO_IMAGE
#pragma unroll
    for (int row = 0; row < ROWS; row++) {
        if (inside || y + row < layout.s1) {
            pixel p[BLOCK_WIDTH];
            after4(args, x, y + row, block + row * BLOCK_WIDTH, p);
            store4(to, layout, x, y + row, p);
        }
    }
#endif
}

#ifndef PASS_STENCIL

// ROWS is a power of two and y is a multiple of it, so `y | row` is y + row. It shows compilers that two rows have the
// same chroma.
INLINE void pass(struct source source, arguments args, DESTINATION to, layout layout, int x, int y, uint *block)
{
    if (y + ROWS <= source.height) {
#pragma unroll
        for (int row = 0; row < ROWS; row++)
            input4(source, args, x, y | row, block + row * BLOCK_WIDTH);
        finish_block(to, layout, args, x, y, 1, block);
    } else {
#ifdef PASS_TO_IMAGE
#pragma unroll
        for (int row = 0; row < ROWS; row++) {
            if (y + row < source.height)
                input4(source, args, x, y + row, block + row * BLOCK_WIDTH);
        }
#else
#pragma unroll 1
        for (; y < source.height; y++) {
            input4(source, args, x, y, block);
            pixel p[BLOCK_WIDTH];
            after4(args, x, y, block, p);
            store4(to, layout, x, y, p);
        }
#endif
    }
}

#else

#ifdef PASS_TILE

// A work-group converts and filters the pixels of all its windows once. The tile has one more group of 4 pixels on each
// side, and `radius` more rows above and below.
enum {
    TILE_GROUPS = GROUP_WIDTH + 2,
    TILE_STRIDE = TILE_GROUPS + TILE - 2,              // from a row to the next
    TILE_ROWS = GROUP_HEIGHT * ROWS + 2 * PASS_RADIUS, // an even number
    TILE_PAIRS = TILE_GROUPS * TILE_ROWS / 2,
};
typedef __local uint4 *tile;

// Makes four pixels of two rows.
INLINE void tile_pair(struct source source, arguments args, int x, int y, int inside, tile to)
{
    uint word[2 * BLOCK_WIDTH];
    if (inside) {
        input4(source, args, x, y, word);
        // For an even y, y | 1 is y + 1. It shows compilers that two rows have the same chroma.
        input4(source, args, x, PASS_RADIUS % 2 ? y + 1 : y | 1, word + BLOCK_WIDTH);
    } else {
        const int last = source.height - 1, y0 = clamp(y, 0, last), y1 = clamp(y + 1, 0, last);
        if (x >= 0 && x + BLOCK_WIDTH <= source.width) {
            input4(source, args, x, y0, word);
            input4(source, args, x, y1, word + BLOCK_WIDTH);
        } else {
            for (int i = 0; i < 2 * BLOCK_WIDTH; i++)
                word[i] = TO_WORD(
                    input(source, args, clamp(x + i % BLOCK_WIDTH, 0, source.width - 1), i < BLOCK_WIDTH ? y0 : y1));
        }
    }
    to[0] = (uint4)(word[0], word[1], word[2], word[3]);
    to[TILE_STRIDE] = (uint4)(word[4], word[5], word[6], word[7]);
}

// Fills the tile from its top left (left, top) on. `inside` is a literal: 1 if the whole tile is inside the picture.
INLINE void tile_fill(struct source source, arguments args, int left, int top, int inside, tile to)
{
    const int item = get_local_id(1) * GROUP_WIDTH + get_local_id(0);
#pragma unroll
    for (int step = 0; step < TILE_PAIRS; step += GROUP_ITEMS) {
        const int i = item + step, row = i / TILE_GROUPS * 2, group = i % TILE_GROUPS;
        if (i < TILE_PAIRS)
            tile_pair(source, args, left + group * BLOCK_WIDTH, top + row, inside, to + row * TILE_STRIDE + group);
    }
}

INLINE void tile_window(tile from, uint *window)
{
#pragma unroll
    for (int row = 0; row < WINDOW_ROWS; row++) {
        tile at = from + (get_local_id(1) * ROWS + row) * TILE_STRIDE + get_local_id(0);
        uint word[3 * BLOCK_WIDTH];
        vstore4(at[0], 0, word);
        vstore4(at[1], 1, word);
        vstore4(at[2], 2, word);
        for (int i = 0; i < WINDOW_WIDTH; i++)
            window[row * WINDOW_WIDTH + i] = word[BLOCK_WIDTH - PASS_RADIUS + i];
    }
}

#endif

#ifdef PASS_WINDOW_FILTER

INLINE void PASS_STENCIL(const uint *window, arguments args, uint *block);

#else

typedef struct {
    const uint *window;
    int at, channel;
} view;

INLINE int tap(view v, int dx, int dy)
{
    return v.window[v.at + dy * WINDOW_WIDTH + dx] >> 8 * v.channel & 255;
}

INLINE int PASS_STENCIL(view v, arguments args);

INLINE uint filtered(view v, int channel, arguments args)
{
    v.channel = channel;
    return PASS_STENCIL(v, args);
}

INLINE uint filtered_word(view v, arguments args)
{
#ifdef PASS_ALPHA
    const uint alpha = filtered(v, 3, args) << 24;
#else
    const uint alpha = v.window[v.at] & 0xff000000u;
#endif
#if defined(PASS_GREY)
    return filtered(v, 0, args);
#elif defined(PASS_EQUAL_CHANNELS)
    return filtered(v, 0, args) * 0x10101u | alpha;
#else
    return filtered(v, 0, args) | filtered(v, 1, args) << 8 | filtered(v, 2, args) << 16 | alpha;
#endif
}

#endif

INLINE void filter_block(const uint *window, arguments args, uint *block)
{
#ifdef PASS_WINDOW_FILTER
    PASS_STENCIL(window, args + PASS_STENCIL_AT, block);
#else
#pragma unroll
    for (int i = 0; i < BLOCK_PIXELS; i++) {
        view v;
        v.window = window;
        v.at = (i / BLOCK_WIDTH + PASS_RADIUS) * WINDOW_WIDTH + i % BLOCK_WIDTH + PASS_RADIUS;
        v.channel = 0;
        block[i] = filtered_word(v, args + PASS_STENCIL_AT);
    }
#endif
}

// `inside` is a literal: 1 if the block and all its windows are inside the picture, so that no pixel needs a check.
INLINE void pass_at(struct source source, arguments args, DESTINATION to, layout layout, int x, int y, int inside,
                    uint *block)
{
    uint window[WINDOW_ROWS * WINDOW_WIDTH];
#pragma unroll
    for (int row = 0; row < WINDOW_ROWS; row++)
        window_row(source, args, x, y + row - PASS_RADIUS, inside, window + row * WINDOW_WIDTH);
    filter_block(window, args, block);
    finish_block(to, layout, args, x, y, inside, block);
}

INLINE void pass(struct source source, arguments args, DESTINATION to, layout layout, int x, int y, uint *block)
{
    if (x >= BLOCK_WIDTH && x + 2 * BLOCK_WIDTH <= source.width && y >= PASS_RADIUS &&
        y + ROWS + PASS_RADIUS <= source.height)
        pass_at(source, args, to, layout, x, y, 1, block);
    else
        pass_at(source, args, to, layout, x, y, 0, block);
}

#endif

#ifdef PASS_TILE
__attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1)))
#endif
__kernel void
pass_window(__global const uchar *restrict bytes, layout layout, arguments restrict args, DESTINATION to)
{
    const struct source source = source_of(bytes, layout);
    const int x = get_global_id(0) * BLOCK_WIDTH, y = get_global_id(1) * ROWS;
    uint block[BLOCK_PIXELS] = {0};
#ifdef PASS_TILE
    __local uint4 shared[TILE_STRIDE * TILE_ROWS];
    const int left = x - ((int)get_local_id(0) + 1) * BLOCK_WIDTH;
    const int top = y - (int)get_local_id(1) * ROWS - PASS_RADIUS;
    if (left >= 0 && top >= 0 && left + TILE_GROUPS * BLOCK_WIDTH <= source.width && top + TILE_ROWS <= source.height)
        tile_fill(source, args, left, top, 1, shared);
    else
        tile_fill(source, args, left, top, 0, shared);
    barrier(CLK_LOCAL_MEM_FENCE);
    if (x < source.width && y < source.height) {
        uint window[WINDOW_ROWS * WINDOW_WIDTH];
        tile_window(shared, window);
        filter_block(window, args, block);
        finish_block(to, layout, args, x, y, 0, block);
    }
#else
    if (x < source.width && y < source.height)
        pass(source, args, to, layout, x, y, block);
#endif
#ifdef PASS_TO_IMAGE
    __local uint words[2][EXCHANGE_PIXELS]; // used in turn, so that one barrier per row is enough
#pragma unroll
    for (int row = 0; row < ROWS; row++) {
        pixel p[BLOCK_WIDTH];
        after4(args, x, y + row, block + row * BLOCK_WIDTH, p);
        store_row(to, layout, x, y + row, p, 0, words[row % 2]);
    }
#endif
}
