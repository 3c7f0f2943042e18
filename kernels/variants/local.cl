// local.cl: the pass for stencils that do not fit a window: a work-group's input is in local memory
//
// The work-group converts and filters its input once, and repeats the edge pixels there. A work-item then makes ROWS
// pixels, GROUP_HEIGHT rows apart, without checks.
#ifndef ROWS
#define ROWS 1
#endif
#ifndef GROUP_WIDTH
#define GROUP_WIDTH 32
#define GROUP_HEIGHT 8
#endif
#define GROUP_ITEMS (GROUP_WIDTH * GROUP_HEIGHT)
#include "variants/block_io.cl"

#ifndef PASS_RADIUS
#define PASS_RADIUS 1
#endif
#ifndef PASS_ACROSS
#define PASS_ACROSS PASS_RADIUS // columns that the stencil reaches to each side
#define PASS_DOWN PASS_RADIUS   // rows
#endif

enum {
    LOCAL_ROWS = GROUP_HEIGHT * ROWS,
    LOCAL_SIDE = (PASS_ACROSS + BLOCK_WIDTH - 1) / BLOCK_WIDTH * BLOCK_WIDTH, // columns on each side
    LOCAL_STRIDE = GROUP_WIDTH + 2 * LOCAL_SIDE,
    LOCAL_BLOCKS = LOCAL_STRIDE / BLOCK_WIDTH,
    LOCAL_HEIGHT = LOCAL_ROWS + 2 * PASS_DOWN,
};

#ifdef PASS_STENCIL

typedef struct {
    __local const uint *at; // the pixel
    int channel;
} view;

// Along rows or columns, one of dx and dy is 0. Their sum shows compilers that the other one is a constant.
INLINE int tap(view v, int dx, int dy)
{
#if PASS_DOWN == 0
    const uint word = v.at[dx + dy];
#elif PASS_ACROSS == 0
    const uint word = v.at[(dx + dy) * LOCAL_STRIDE];
#else
    const uint word = v.at[dy * LOCAL_STRIDE + dx];
#endif
    return word >> 8 * v.channel & 255;
}

INLINE int PASS_STENCIL(view v, arguments args);

INLINE pixel filtered(__local const uint *at, arguments args)
{
    pixel p = FROM_WORD(*at);
    view v;
    v.at = at;
    v.channel = 0;
    p.r = PASS_STENCIL(v, args);
#ifdef PASS_EQUAL_CHANNELS
    p.g = p.b = p.r;
#else
    v.channel = 1;
    p.g = PASS_STENCIL(v, args);
    v.channel = 2;
    p.b = PASS_STENCIL(v, args);
#endif
#ifdef PASS_ALPHA
    v.channel = 3;
    p.a = PASS_STENCIL(v, args);
#endif
    return p;
}

#else
#define PASS_STENCIL_AT 0
#define filtered(at, args) FROM_WORD(*(at))
#endif

// Fills local memory from (left, top) on, which may be outside the picture.
INLINE void local_fill(struct source source, arguments args, int left, int top, __local uint *to)
{
    const int item = get_local_id(1) * GROUP_WIDTH + get_local_id(0);
    for (int i = item; i < LOCAL_BLOCKS * LOCAL_HEIGHT; i += GROUP_ITEMS) {
        uint word[BLOCK_WIDTH];
        repeated4(source, args, left + i % LOCAL_BLOCKS * BLOCK_WIDTH, top + i / LOCAL_BLOCKS, word);
        vstore4(vload4(0, word), i, to);
    }
}

__kernel __attribute__((reqd_work_group_size(GROUP_WIDTH, GROUP_HEIGHT, 1))) void
#ifdef PASS_LOCAL_ARGUMENTS
pass_local(__global const uchar *restrict bytes, layout layout, __global const int *restrict given, DESTINATION to)
#else
pass_local(__global const uchar *restrict bytes, layout layout, arguments restrict args, DESTINATION to)
#endif
{
    __local uint shared[LOCAL_STRIDE * LOCAL_HEIGHT] __attribute__((aligned(16)));
    const struct source source = source_of(bytes, layout);
    const int x = get_global_id(0), y = (int)get_group_id(1) * LOCAL_ROWS + (int)get_local_id(1);
#ifdef PASS_LOCAL_ARGUMENTS
    __local int args[PASS_LOCAL_ARGUMENTS];
    for (int i = get_local_id(1) * GROUP_WIDTH + get_local_id(0); i < PASS_LOCAL_ARGUMENTS; i += GROUP_ITEMS)
        args[i] = given[i];
    barrier(CLK_LOCAL_MEM_FENCE);
#endif
    local_fill(source, args, x - (int)get_local_id(0) - LOCAL_SIDE, y - (int)get_local_id(1) - PASS_DOWN, shared);
    barrier(CLK_LOCAL_MEM_FENCE);
    __local const uint *at =
        shared + ((int)get_local_id(1) + PASS_DOWN) * LOCAL_STRIDE + (int)get_local_id(0) + LOCAL_SIDE;
#pragma unroll 1
    for (int row = 0; row < LOCAL_ROWS; row += GROUP_HEIGHT) {
        if (x < source.width && y + row < source.height)
            store(to, layout, x, y + row,
                  PASS_AFTER(filtered(at + row * LOCAL_STRIDE, args + PASS_STENCIL_AT), args, x, y + row));
    }
}
