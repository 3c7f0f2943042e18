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

// Sums of columns, 16 bits each: of pixels' even bytes, and of their odd ones.
typedef struct {
    word_vector even[LINE_ROOM / VECTOR_WORDS], odd[LINE_ROOM / VECTOR_WORDS];
} lines_state;

// One column of every square has half of the area more, so that dividing rounds.
INLINE void lines_begin(lines_state *columns, arguments args)
{
    for (int i = 0; i < LINE_ROOM / VECTOR_WORDS; i++)
        columns->even[i] = columns->odd[i] = (word_vector)0;
    for (int i = 0; i < LINE_ROOM; i += BLUR_SIDE)
        ((uint *)columns->even)[i] = ((uint *)columns->odd)[i] = BLUR_AREA / 2 * 0x10001;
}

INLINE word_vector blur_exchange(word_vector sums, ushort_vector in, ushort_vector out)
{
    return AS_WORDS(AS_USHORTS(sums) + in - out);
}

// A vector of columns.
INLINE void blur_take(lines_state *columns, const lines_rows *rows, int at)
{
    const ushort_vector come = AS_USHORTS(WORDS_AT(rows->row[LINES_NEW] + at * VECTOR_WORDS));
    const ushort_vector gone = AS_USHORTS(WORDS_AT(rows->row[0] + at * VECTOR_WORDS));
    columns->even[at] = blur_exchange(columns->even[at], come & (ushort_vector)255, gone & (ushort_vector)255);
    columns->odd[at] = blur_exchange(columns->odd[at], come >> (ushort_vector)8, gone >> (ushort_vector)8);
}

INLINE void lines_take(lines_state *columns, const lines_rows *rows, int first, int end)
{
    for (int i = first / VECTOR_WORDS; i * VECTOR_WORDS < end; i++)
        blur_take(columns, rows, i);
}

#if PASS_RADIUS <= 7

// A mean is sum * factor >> 16 >> shift, where the factor is 2^(16 + shift) / area, rounded up; exact for every sum
// (src/filter/blur.h). Up to radius 5 it needs 15 bits, and sums have no more.
#define BLUR_SHIFT (BLUR_AREA < 16 ? 2 : BLUR_AREA < 32 ? 3 : BLUR_AREA < 64 ? 4 : BLUR_AREA < 128 ? 5 : 7)
#define BLUR_FACTOR16 (((1 << (16 + BLUR_SHIFT)) + BLUR_AREA - 1) / BLUR_AREA)

// Of the columns of three vectors, the pixels being where the second one is.
INLINE ushort_vector blur_means(word_vector left, word_vector here, word_vector right)
{
    ushort_vector sum = (ushort_vector)0;
#define ADD(dx, dy)                                                                                                    \
    sum += AS_USHORTS((dx) < 0 ? BESIDE(left, here, (dx) & (VECTOR_WORDS - 1))                                         \
                               : BESIDE(here, right, (dx) & (VECTOR_WORDS - 1)));
    FOR_SQUARE_ROW(ADD, 0)
#undef ADD
    const short_vector s = AS_SHORTS(sum);
    ushort_vector mean = AS_USHORTS(upper_halves_of_vector(s, (short)BLUR_FACTOR16));
    if (BLUR_FACTOR16 > SHRT_MAX) // to the signed product what it lacks
        mean += sum + AS_USHORTS(s >> (short_vector)15 & (short)BLUR_FACTOR16);
    return mean >> (ushort_vector)BLUR_SHIFT;
}

// Columns are taken as pixels to the left are made, and stay in registers until squares have left them.
INLINE void lines_make(lines_state *columns, const lines_rows *rows, int first, int end)
{
    const uint *centre = lines_centre(rows, 0);
    uint *line = rows->to[0];
    enum { HERE = LINE_REACH / VECTOR_WORDS }; // of the columns
    int at = first / VECTOR_WORDS;
    word_vector even_left = columns->even[at + HERE - 1], even_here = columns->even[at + HERE];
    word_vector odd_left = columns->odd[at + HERE - 1], odd_here = columns->odd[at + HERE];
    for (int i = first; i < end; i += VECTOR_WORDS, at++) {
        blur_take(columns, rows, at + 2 * HERE);
        const word_vector even_right = columns->even[at + HERE + 1], odd_right = columns->odd[at + HERE + 1];
        const word_vector red_blue = AS_WORDS(blur_means(even_left, even_here, even_right));
        const word_vector green = AS_WORDS(blur_means(odd_left, odd_here, odd_right)) << 8 & 0xff00;
        PUT_WORDS(red_blue | green | (WORDS_AT(centre + i) & 0xff000000), line + i - first);
        even_left = even_here;
        even_here = even_right;
        odd_left = odd_here;
        odd_here = odd_right;
    }
}

#else // sums of squares take 32 bits, those of 8 columns fit 16

enum { BLUR_STEP = 8 };

// Exact: src/filter/blur.c says why.
INLINE uint8 blur_divide(uint8 sum)
{
    return as_uint8(CONVERT(int8, CONVERT(float8, as_int8(sum * 2 + 1)) * (0.5f / BLUR_AREA)));
}

INLINE uint8 blur_means(const uint *sums)
{
    uint8 low = (uint8)0, high = low;
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

INLINE void lines_make(lines_state *columns, const lines_rows *rows, int first, int end)
{
    const uint *centre = lines_centre(rows, 0);
    uint *line = rows->to[0];
    lines_take(columns, rows, first + 2 * LINE_REACH, end + 2 * LINE_REACH);
    const uint *even = (const uint *)columns->even + LINE_LEFT, *odd = (const uint *)columns->odd + LINE_LEFT;
    for (int i = first; i < end; i += BLUR_STEP) {
        const uint8 red_blue = blur_means(even + i) & RED_BLUE;
        const uint8 green = blur_means(odd + i) << 8 & 0xff00;
        vstore8(red_blue | green | (vload8(0, centre + i) & 0xff000000), 0, line + i - first);
    }
}

#endif

#endif
