// blur.cl: mean of a square
#include "pixel.cl"
#include "square.cl"

#define BLUR_SIDE (2 * PASS_RADIUS + 1)
#define BLUR_AREA (BLUR_SIDE * BLUR_SIDE)

INLINE pixel filter_blur(struct view view, arguments args)
{
    int r = BLUR_AREA / 2, g = BLUR_AREA / 2, b = BLUR_AREA / 2;
#define ADD(dx, dy)                                                                                                    \
    {                                                                                                                  \
        const pixel t = tap(view, dx, dy);                                                                             \
        r += t.r;                                                                                                      \
        g += t.g;                                                                                                      \
        b += t.b;                                                                                                      \
    }
    FOR_SQUARE(ADD)
#undef ADD
    pixel p = tap(view, 0, 0);
    p.r = r / BLUR_AREA;
    p.g = g / BLUR_AREA;
    p.b = b / BLUR_AREA;
    return p;
}

#ifdef PASS_WINDOW

// Division by the area: the product with 2^24 / area, rounded up, has the quotient in its top byte. Exact up to radius
// 7: the factor is off by less than area / 2^24, and the largest sum times the area stays below 2^24.
#define BLUR_FACTOR (((1u << 24) + BLUR_AREA - 1) / BLUR_AREA)

// A whole block by running sums, along rows and then down columns, two channels in the halves of one word.
INLINE void blur_block(const uint *window, pixel *block)
{
    enum { WIDTH = 4, REACH = WIDTH + 2 * PASS_RADIUS, ROWS = PASS_BLOCK_ROWS + 2 * PASS_RADIUS };
    const uint rounding = (BLUR_AREA / 2) * 0x10001u, mask = 0x00ff00ffu;
    uint rb[ROWS * WIDTH], g[ROWS * WIDTH]; // sums along rows
    uint column_rb[WIDTH], column_g[WIDTH];
    for (int i = 0; i < WIDTH; i++)
        column_rb[i] = column_g[i] = rounding;
#pragma unroll
    for (int y = 0; y < ROWS; y++) {
        const uint *row = window + y * REACH;
        uint sum_rb = 0, sum_g = 0;
#pragma unroll
        for (int x = 0; x < BLUR_SIDE - 1; x++) {
            sum_rb += row[x] & mask;
            sum_g += row[x] >> 8 & mask;
        }
#pragma unroll
        for (int x = 0; x < WIDTH; x++) {
            const int entering = x + BLUR_SIDE - 1, at = y * WIDTH + x;
            sum_rb += row[entering] & mask;
            sum_g += row[entering] >> 8 & mask;
            rb[at] = sum_rb;
            g[at] = sum_g;
            sum_rb -= row[x] & mask;
            sum_g -= row[x] >> 8 & mask;
            column_rb[x] += rb[at];
            column_g[x] += g[at];
            if (y >= BLUR_SIDE) {
                column_rb[x] -= rb[at - BLUR_SIDE * WIDTH];
                column_g[x] -= g[at - BLUR_SIDE * WIDTH];
            }
            if (y >= BLUR_SIDE - 1) {
                pixel p;
                p.r = (column_rb[x] & 0xffff) * BLUR_FACTOR >> 24;
                p.g = (column_g[x] & 0xffff) * BLUR_FACTOR >> 24;
                p.b = (column_rb[x] >> 16) * BLUR_FACTOR >> 24;
                p.a = window[(y - PASS_RADIUS) * REACH + x + PASS_RADIUS] >> 24;
                block[(y - BLUR_SIDE + 1) * WIDTH + x] = p;
            }
        }
    }
}

#define FILTER_BLOCK(window, block) blur_block(window, block)

#endif
