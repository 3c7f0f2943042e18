// blur_window.cl: blur of a whole block, by running sums along the rows and then down the columns

#define BLUR_SIDE (2 * PASS_RADIUS + 1)
#define BLUR_AREA (BLUR_SIDE * BLUR_SIDE)
#define BLUR_ROUNDING (BLUR_AREA / 2)

// Division by the area is a multiplication by 2^24 / area, rounded up; the quotient is the product's top byte. It is
// exact up to radius 7, where the largest sum times the area is below 2^24.
#define BLUR_FACTOR (((1u << 24) + BLUR_AREA - 1) / BLUR_AREA)

enum {
    BLUR_WIDTH = 4, // of a block
    BLUR_REACH = BLUR_WIDTH + 2 * PASS_RADIUS,
    BLUR_ROWS = ROWS + 2 * PASS_RADIUS,
};

// Sums over packed pixels, of all channels at once. Two sums together hold the sum of each channel: the sum of the
// whole words and the sum of the masked words. Red and blue are the halves of the masked sum. Green begins at bit 8 of
// the difference of the two sums, and only alpha lies above it. The sum of each channel must be in 0..65535.
#define RED_BLUE 0x00ff00ffu

struct word_sum {
    uint all, red_blue;
};

// Sums of BLUR_SIDE neighbours along a row of the window. Each sum is computed from the previous one.
INLINE void blur_row(const uint *row, struct word_sum *sum)
{
    struct word_sum running;
    running.all = running.red_blue = 0;
#pragma unroll
    for (int x = 0; x < BLUR_REACH; x++) {
        running.all += row[x];
        running.red_blue += row[x] & RED_BLUE;
        if (x >= BLUR_SIDE) {
            running.all -= row[x - BLUR_SIDE];
            running.red_blue -= row[x - BLUR_SIDE] & RED_BLUE;
        }
        if (x >= BLUR_SIDE - 1)
            sum[x - BLUR_SIDE + 1] = running;
    }
}

INLINE uint blur_mean(struct word_sum sum, uint centre)
{
#ifdef PASS_GREY
    return sum.all * BLUR_FACTOR >> 24;
#else
    const uint green = (sum.all - sum.red_blue) >> 8 & 0xffff;
    return high_bytes((sum.red_blue & 0xffff) * BLUR_FACTOR, green * BLUR_FACTOR, (sum.red_blue >> 16) * BLUR_FACTOR,
                      centre);
#endif
}

INLINE void PASS_STENCIL(const uint *window, arguments args, uint *block)
{
    struct word_sum sum[BLUR_ROWS * BLUR_WIDTH], column[BLUR_WIDTH];
#pragma unroll
    for (int x = 0; x < BLUR_WIDTH; x++) {
#ifdef PASS_GREY
        column[x].all = BLUR_ROUNDING;
#else
        column[x].all = BLUR_ROUNDING * 0x10101u;
#endif
        column[x].red_blue = BLUR_ROUNDING * 0x10001u;
    }
#pragma unroll
    for (int y = 0; y < BLUR_ROWS; y++) {
        blur_row(window + y * BLUR_REACH, sum + y * BLUR_WIDTH);
#pragma unroll
        for (int x = 0; x < BLUR_WIDTH; x++) {
            const int at = y * BLUR_WIDTH + x, gone = at - BLUR_SIDE * BLUR_WIDTH;
            column[x].all += sum[at].all - (gone >= 0 ? sum[gone].all : 0);
            column[x].red_blue += sum[at].red_blue - (gone >= 0 ? sum[gone].red_blue : 0);
            if (y >= BLUR_SIDE - 1)
                block[(y - BLUR_SIDE + 1) * BLUR_WIDTH + x] =
                    blur_mean(column[x], window[(y - PASS_RADIUS) * BLUR_REACH + x + PASS_RADIUS]);
        }
    }
}
