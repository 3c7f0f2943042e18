// blur.cl: mean of a square
#include "pixel.cl"
#include "square.cl"

#define BLUR_SIDE (2 * PASS_RADIUS + 1)
#define BLUR_AREA (BLUR_SIDE * BLUR_SIDE)
#define BLUR_ROUNDING (BLUR_AREA / 2)

// A square's mean from its sums, alpha being the centre's.
INLINE uint blur_mean_of_sums(uint r, uint g, uint b, uint centre)
{
    r = (r + BLUR_ROUNDING) / BLUR_AREA;
#ifdef PASS_GREY
    return r;
#else
    return low_bytes(r, (g + BLUR_ROUNDING) / BLUR_AREA, (b + BLUR_ROUNDING) / BLUR_AREA, centre >> 24);
#endif
}

#define FILTER_MEAN(r, g, b, centre) blur_mean_of_sums(r, g, b, centre)

#ifdef PASS_WINDOW

// Division by the area: the product with 2^24 / area, rounded up, has the quotient in its top byte. Exact up to radius
// 7: the factor is off by less than area / 2^24, and the largest sum times the area stays below 2^24.
#define BLUR_FACTOR (((1u << 24) + BLUR_AREA - 1) / BLUR_AREA)

enum {
    BLUR_WIDTH = 4, // of a block
    BLUR_REACH = BLUR_WIDTH + 2 * PASS_RADIUS,
    BLUR_ROWS = PASS_BLOCK_ROWS + 2 * PASS_RADIUS,
};

// Sums of BLUR_SIDE neighbours along a row of the window, each from the one before.
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
    return high_bytes((sum.red_blue & 0xffff) * BLUR_FACTOR, green_of(sum) * BLUR_FACTOR,
                      (sum.red_blue >> 16) * BLUR_FACTOR, centre);
#endif
}

// A whole block by running sums, along rows and then down columns.
INLINE void blur_block(const uint *window, uint *block)
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

#define FILTER_BLOCK(window, args, block) blur_block(window, block)

#endif

#ifdef PASS_LINES
#include "lines.cl"

enum { BLUR_STEP = 8 };

// Sums of columns, 16 bits each: of pixels' even bytes, and of their odd ones.
typedef struct {
    uint8 even[LINE_ROOM / BLUR_STEP], odd[LINE_ROOM / BLUR_STEP];
} lines_state;

INLINE void lines_begin(lines_state *columns, arguments args)
{
    for (int i = 0; i < LINE_ROOM / BLUR_STEP; i++)
        columns->even[i] = columns->odd[i] = (uint8)0;
}

INLINE uint8 blur_exchange(uint8 sums, ushort16 in, ushort16 out)
{
    return as_uint8(as_ushort16(sums) + in - out);
}

INLINE void lines_take(lines_state *columns, int row, const uint *in, const uint *out, int first, int end)
{
    for (int i = first / BLUR_STEP; i * BLUR_STEP < end; i++) {
        const ushort16 come = as_ushort16(vload8(i, in)), gone = as_ushort16(vload8(i, out));
        columns->even[i] = blur_exchange(columns->even[i], come & (ushort16)255, gone & (ushort16)255);
        columns->odd[i] = blur_exchange(columns->odd[i], come >> (ushort16)8, gone >> (ushort16)8);
    }
}

#if PASS_RADIUS <= 7

// A mean is sum * factor >> 16 >> shift, where the factor is 2^(16 + shift) / area, rounded up, and needs all 16
// bits; exact for every sum (src/filter/blur.h).
#define BLUR_SHIFT (BLUR_AREA < 16 ? 3 : BLUR_AREA < 32 ? 4 : BLUR_AREA < 64 ? 5 : BLUR_AREA < 128 ? 6 : 7)
#define BLUR_FACTOR16 (((1 << (16 + BLUR_SHIFT)) + BLUR_AREA - 1) / BLUR_AREA)

// Means, not shifted yet. To the signed product, the factor being 65536 less, what it lacks.
INLINE uint8 blur_means(const uint *sums)
{
    const short factor = (short)(BLUR_FACTOR16 - 65536);
    ushort16 sum = (ushort16)(BLUR_AREA / 2);
#pragma unroll
    for (int i = 0; i < BLUR_SIDE; i++)
        sum += as_ushort16(vload8(0, sums + i));
    const short16 s = as_short16(sum);
    short16 mean = upper_halves(s, factor) + s;
    if (BLUR_AREA * 255 + BLUR_AREA / 2 > SHRT_MAX)
        mean += s >> (short16)15 & factor;
    return as_uint8(mean);
}

#else // sums of squares take 32 bits, those of 8 columns fit 16

#define BLUR_SHIFT 0

// Exact: src/filter/blur.c says why.
INLINE uint8 blur_divide(uint8 sum)
{
    return as_uint8(CONVERT(int8, CONVERT(float8, as_int8(sum * 2 + 1)) * (0.5f / BLUR_AREA)));
}

INLINE uint8 blur_means(const uint *sums)
{
    uint8 low = (uint8)(BLUR_AREA / 2), high = low;
    ushort16 part = (ushort16)0;
#pragma unroll
    for (int i = 0; i < BLUR_SIDE; i++) {
        part += as_ushort16(vload8(0, sums + i));
        if (i % 8 == 7 || i == BLUR_SIDE - 1) {
            low += as_uint8(part) & 0xffff;
            high += as_uint8(part) >> 16;
            part = (ushort16)0;
        }
    }
    return blur_divide(low) | blur_divide(high) << 16;
}

#endif

INLINE void lines_make(const lines_state *columns, int row, const uint *centre, int first, int end, uint *line)
{
    const uint *even = (const uint *)columns->even + LINE_LEFT, *odd = (const uint *)columns->odd + LINE_LEFT;
    for (int i = first; i < end; i += BLUR_STEP) {
        const uint8 red_blue = blur_means(even + i) >> BLUR_SHIFT & RED_BLUE;
        const uint8 green = blur_means(odd + i) << (8 - BLUR_SHIFT) & 0xff00;
        vstore8(red_blue | green | (vload8(0, centre + i) & 0xff000000), 0, line + i - first);
    }
}

#endif
