// sums.cl: the pass for blurs too large for a window: a work-group walks down a strip
//
// A work-item keeps the sums of four columns; a column is as high as the square. For each row it adds the row that
// enters the squares and subtracts the row that leaves them. It writes its sums to local memory, and computes the means
// of its four columns from its own sums and its neighbours'. The outermost work-items only keep sums.
#ifndef ITEMS
#define ITEMS 128 // work-items of a work-group
#define ROWS 16   // rows of a strip
#endif
#ifndef PASS_RADIUS
#define PASS_RADIUS 15
#endif
#define GROUP_ITEMS ITEMS
#include "variants/block_io.cl"

#define SUMS_SIDE (2 * PASS_RADIUS + 1)
#define SUMS_AREA (SUMS_SIDE * SUMS_SIDE)

// Red and blue of a packed pixel: the halves of a word.
#define RED_BLUE 0x00ff00ffu

enum {
    SUMS_REACH = (PASS_RADIUS + BLOCK_WIDTH - 1) / BLOCK_WIDTH, // work-items on each side that the squares reach
    SUMS_BLOCKS = 2 * SUMS_REACH + 1,                           // blocks of four columns: theirs and its own
    // Among these columns: the first and last of the first pixel's square, and the first that all four squares include.
    SUMS_FIRST = BLOCK_WIDTH * SUMS_REACH - PASS_RADIUS,
    SUMS_LAST = SUMS_FIRST + 2 * PASS_RADIUS,
    SUMS_COMMON = SUMS_FIRST + BLOCK_WIDTH - 1,
};

// Green of a packed pixel, with PASS_ALPHA as the lower half of a word that has alpha, too.
#ifdef PASS_ALPHA
#define GREEN(word) ((word) >> 8 & RED_BLUE)
#define ONLY_GREEN(sum) ((sum)&0xffff)
#define ONLY_ALPHA(sum) ((sum) >> 16)
#else
#define GREEN(word) ((word) >> 8 & 255)
#define ONLY_GREEN(sum) (sum)
#define ONLY_ALPHA(sum) 0
#endif

// Returns the mean of a square from its sums. Without PASS_ALPHA, alpha is that of the centre.
INLINE uint sums_mean(uint r, uint g, uint b, uint a, uint centre)
{
    r = (r + SUMS_AREA / 2) / SUMS_AREA;
#ifdef PASS_ALPHA
    a = (a + SUMS_AREA / 2) / SUMS_AREA;
#else
    a = centre >> 24;
#endif
#ifdef PASS_GREY
    return r;
#else
    return low_bytes(r, (g + SUMS_AREA / 2) / SUMS_AREA, (b + SUMS_AREA / 2) / SUMS_AREA, a);
#endif
}

// The sums of the columns of a work-group. Red and blue are the halves of a word, also in totals of four columns;
// likewise green and alpha.
typedef struct {
    uint4 red_blue[ITEMS], green[ITEMS];
    uint2 total[ITEMS]; // of each work-item's four columns: red and blue, then green
} sums_row;

typedef struct {
    uint red_blue[BLOCK_WIDTH], green[BLOCK_WIDTH];
} sums_block;

INLINE void sums_exchange(sums_block *sums, const uint *in, const uint *out)
{
    for (int i = 0; i < BLOCK_WIDTH; i++) {
        sums->red_blue[i] += (in[i] & RED_BLUE) - (out[i] & RED_BLUE);
        sums->green[i] += GREEN(in[i]) - GREEN(out[i]);
    }
}

INLINE void sums_show(const sums_block *sums, __local sums_row *row, int item)
{
    row->red_blue[item] = vload4(0, sums->red_blue);
    row->green[item] = vload4(0, sums->green);
    uint2 total = (uint2)(0, 0);
    for (int i = 0; i < BLOCK_WIDTH; i++)
        total += (uint2)(sums->red_blue[i], sums->green[i]);
    row->total[item] = total;
}

// Makes the means of a work-item's four columns. A block of columns that lies in all four squares is added by its
// totals.
INLINE void sums_means(__local const sums_row *row, int item, const uint *centre, uint *block)
{
    uint red_blue[SUMS_BLOCKS * BLOCK_WIDTH], green[SUMS_BLOCKS * BLOCK_WIDTH];
    uint r = 0, g = 0, b = 0, a = 0, left = 0, right = 0;
#pragma unroll
    for (int i = 0; i < SUMS_BLOCKS; i++) {
        const int at = item - SUMS_REACH + i, column = i * BLOCK_WIDTH;
        if (column >= SUMS_COMMON && column + BLOCK_WIDTH - 1 <= SUMS_LAST) {
            const uint2 total = row->total[at];
            r += total.x & 0xffff;
            b += total.x >> 16;
            g += ONLY_GREEN(total.y);
            a += ONLY_ALPHA(total.y);
            continue;
        }
        vstore4(row->red_blue[at], i, red_blue);
        vstore4(row->green[at], i, green);
#pragma unroll
        for (int k = column; k < column + BLOCK_WIDTH; k++) {
            const int counts = k >= SUMS_FIRST && k <= SUMS_LAST;
            left += counts && i < SUMS_REACH ? red_blue[k] : 0;
            right += counts && i > SUMS_REACH ? red_blue[k] : 0;
            g += counts ? ONLY_GREEN(green[k]) : 0;
            a += counts ? ONLY_ALPHA(green[k]) : 0;
        }
    }
    r += (left & 0xffff) + (right & 0xffff);
    b += (left >> 16) + (right >> 16);
    block[0] = sums_mean(r, g, b, a, centre[0]);
#pragma unroll
    for (int i = 1; i < BLOCK_WIDTH; i++) {
        const int in = SUMS_LAST + i, out = SUMS_FIRST + i - 1;
        r += (red_blue[in] & 0xffff) - (red_blue[out] & 0xffff);
        b += (red_blue[in] >> 16) - (red_blue[out] >> 16);
        g += ONLY_GREEN(green[in]) - ONLY_GREEN(green[out]);
        a += ONLY_ALPHA(green[in]) - ONLY_ALPHA(green[out]);
        block[i] = sums_mean(r, g, b, a, centre[i]);
    }
}

__kernel __attribute__((reqd_work_group_size(ITEMS, 1, 1))) void
pass_sums(__global const uchar *restrict bytes, layout layout, __global const int *restrict args, DESTINATION to)
{
    __local sums_row rows[2]; // used in turn, so that one barrier per row is enough
#ifdef PASS_TO_IMAGE
    __local uint words[2][EXCHANGE_PIXELS];
#endif
    const struct source source = source_of(bytes, layout);
    const int item = get_local_id(0), top = get_group_id(1) * ROWS;
    const int x = ((int)get_group_id(0) * (ITEMS - 2 * SUMS_REACH) + item - SUMS_REACH) * BLOCK_WIDTH;
    const int end = min(top + ROWS, source.height);
    const int makes = item >= SUMS_REACH && item < ITEMS - SUMS_REACH && x < source.width;
    uint in[BLOCK_WIDTH], out[BLOCK_WIDTH] = {0};
    sums_block sums = {{0}, {0}};
    for (int y = top - PASS_RADIUS; y < top + PASS_RADIUS; y++) {
        repeated4(source, args, x, y, in);
        sums_exchange(&sums, in, out);
    }
    for (int y = top; y < end; y++) {
        repeated4(source, args, x, y + PASS_RADIUS, in);
        sums_exchange(&sums, in, out);
        sums_show(&sums, &rows[y & 1], item);
        repeated4(source, args, x, y - PASS_RADIUS, out); // this row leaves the squares before the next row
        barrier(CLK_LOCAL_MEM_FENCE);
        uint block[BLOCK_WIDTH] = {0};
        pixel p[BLOCK_WIDTH];
        if (makes) {
            uint centre[BLOCK_WIDTH];
            repeated4(source, args, x, y, centre);
            sums_means(&rows[y & 1], item, centre, block);
        }
        after4(args, x, y, block, p);
#ifdef PASS_TO_IMAGE
        store_row(to, layout, x, y, p, SUMS_REACH, words[y & 1]);
#else
        if (makes)
            store4(to, layout, x, y, p);
#endif
    }
}
