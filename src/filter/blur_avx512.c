// blur_avx512.c: means of small squares with AVX-512, two rows at a time
//
// Bytes that come into reach are put side by side with those that leave it, those of even columns in one vector and of
// odd ones in another, so that one instruction takes their differences: four 16-bit lanes each. These are summed over
// the sides of squares, whose sums they change. Columns go by blocks of 16, the first of which begins `radius` columns
// to the left of the row.
#include "filter/blur.h"

#include "base/avx512.h"

#ifdef HAVE_AVX512

enum { BLOCK = 16, BLOCK_BYTES = 4 * BLOCK, VECTOR_LANES = 32, BLOCK_LANES = 2 * VECTOR_LANES, AHEAD = 3 };

// What a block takes besides its bytes.
struct rules {
    __m512i even_bytes, odd_bytes; // of two vectors
    __m512i differ;                // 1, -1
    __m512i factors, places;       // what divides a square's sum, and where its mean is then
};

// Of even columns and of the odd ones to their right, or of the squares that begin there; each four lanes.
struct sums {
    __m512i even, odd;
};

// Three blocks of columns, one behind the other. `twos`: odd ones with the even ones to their right.
struct window {
    struct sums first, second, third;
    __m512i first_twos;
    __m512i last; // the last column that the row has
};

AVX512_INLINE struct rules make_rules(int factor, int shift)
{
    uint8_t even[BLOCK_BYTES], odd[BLOCK_BYTES], places[BLOCK_BYTES];
    for (int i = 0; i < BLOCK_BYTES; i++) {
        even[i] = (uint8_t)(i / 8 * 8 + i % 8 / 2 + i % 2 * BLOCK_BYTES);
        odd[i] = (uint8_t)(even[i] + 4);
        places[i] = (uint8_t)(i % 4 * 16 + shift);
    }
    return (struct rules){
        .even_bytes = avx512_load(even),
        .odd_bytes = avx512_load(odd),
        .differ = _mm512_set1_epi16((int16_t)0xff01),
        .factors = _mm512_set1_epi16((int16_t)factor),
        .places = avx512_load(places),
    };
}

AVX512_INLINE struct sums add(struct sums one, struct sums other)
{
    return (struct sums){_mm512_add_epi16(one.even, other.even), _mm512_add_epi16(one.odd, other.odd)};
}

AVX512_INLINE struct sums load_sums(const uint16_t *lanes)
{
    return (struct sums){avx512_load(lanes), avx512_load(lanes + VECTOR_LANES)};
}

AVX512_INLINE void store_sums(uint16_t *lanes, struct sums sums)
{
    avx512_store(lanes, sums.even);
    avx512_store(lanes + VECTOR_LANES, sums.odd);
}

// What a block of columns changes by.
AVX512_INLINE struct sums exchange(const struct rules *rules, __m512i in, __m512i out)
{
    __asm__("" : "+v"(in), "+v"(out)); // compilers would load them twice
    const __m512i even = _mm512_permutex2var_epi8(in, rules->even_bytes, out);
    const __m512i odd = _mm512_permutex2var_epi8(in, rules->odd_bytes, out);
    return (struct sums){_mm512_maddubs_epi16(even, rules->differ), _mm512_maddubs_epi16(odd, rules->differ)};
}

// 16 pixels from `at` on, those of them that the row has.
AVX512_INLINE __mmask16 inside(int at, int width)
{
    const __m512i places = _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15);
    return _mm512_cmplt_epu32_mask(_mm512_add_epi32(places, _mm512_set1_epi32(at)), _mm512_set1_epi32(width));
}

AVX512_INLINE __m512i load_inside(const uint8_t *row, int at, int width)
{
    return _mm512_maskz_loadu_epi32(inside(at, width), row + 4 * at);
}

// Column `column` of a block, to all places.
AVX512_INLINE __m512i spread(struct sums columns, int column)
{
    return _mm512_permutexvar_epi64(_mm512_set1_epi64(column / 2), column % 2 ? columns.odd : columns.even);
}

// Puts a block of columns, the first of which is pixel `at`, into the window. Those beyond the row's ends become what
// the last ones there are.
AVX512_INLINE void take_edge(struct window *window, struct sums columns, int at, int width, int radius)
{
    const int end = width - 1 - at; // the last column of the row
    if (at < 0) {
        const __m512i first = spread(columns, radius);
        columns.even = _mm512_mask_mov_epi64(columns.even, (__mmask8)((1 << (radius + 1) / 2) - 1), first);
        columns.odd = _mm512_mask_mov_epi64(columns.odd, (__mmask8)((1 << radius / 2) - 1), first);
    }
    if (end < 0) {
        columns.even = columns.odd = window->last;
    } else if (end < BLOCK) {
        window->last = spread(columns, end);
        columns.even = _mm512_mask_mov_epi64(columns.even, (__mmask8)(0xff << (end / 2 + 1)), window->last);
        columns.odd = _mm512_mask_mov_epi64(columns.odd, (__mmask8)(0xff << (end + 1) / 2), window->last);
    }
    window->third = columns;
}

// What is so many places of four lanes further on. `places` is a constant, or becomes one when loops are written out.
AVX512_INLINE __m512i places_on(__m512i vector, __m512i next, int places)
{
    switch (places) {
#define PLACES(count)                                                                                                  \
    case count:                                                                                                        \
        return _mm512_alignr_epi64(next, vector, count);
        PLACES(1)
        PLACES(2)
        PLACES(3)
        PLACES(4)
        PLACES(5)
        PLACES(6)
        PLACES(7)
#undef PLACES
    default:
        return vector;
    }
}

AVX512_INLINE __m512i make_twos(struct sums columns, struct sums next)
{
    return _mm512_add_epi16(columns.odd, places_on(columns.even, next.even, 1));
}

// The window one block further on: what is third is to be taken anew.
AVX512_INLINE void move(struct window *window, __m512i twos)
{
    window->first = window->second;
    window->second = window->third;
    window->first_twos = twos;
}

// The sums of the squares that begin in the window's first block, which leaves. A square that begins at an even column
// shares all but its first with the one that begins at the next.
AVX512_INLINE struct sums sum_squares(struct window *window, int radius)
{
    const struct sums first = window->first, second = window->second;
    const __m512i twos = window->first_twos, next = make_twos(second, window->third);
    const __m512i last = places_on(first.odd, second.odd, radius);
    __m512i shared = twos;
#pragma GCC unroll 7
    for (int i = 1; i < radius; i++)
        shared = _mm512_add_epi16(shared, places_on(twos, next, i));
    move(window, next);
    return (struct sums){_mm512_add_epi16(first.even, shared), _mm512_add_epi16(last, shared)};
}

AVX512_INLINE __m512i make_means(const struct rules *rules, struct sums squares, __m512i centres)
{
    const __m512i even = _mm512_mulhi_epu16(squares.even, rules->factors);
    const __m512i odd = _mm512_mulhi_epu16(squares.odd, rules->factors);
    const __m512i evens = _mm512_mask_multishift_epi64_epi8(centres, 0x0707070707070707, rules->places, even);
    return _mm512_mask_multishift_epi64_epi8(evens, 0x7070707070707070, rules->places, odd);
}

// A row of a pair: bytes that come and go, its centre and output; columns that the latter change, squares being made.
struct line {
    const uint8_t *in, *out, *centre;
    uint8_t *to;
    struct window window;
    struct sums squares;
};

AVX512_INLINE void take_edges(const struct rules *rules, struct line *lines, int block, int width, int radius)
{
    const int at = block * BLOCK - radius;
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++)
        take_edge(&lines[i].window,
                  exchange(rules, load_inside(lines[i].in, at, width), load_inside(lines[i].out, at, width)), at, width,
                  radius);
}

AVX512_INLINE void change_squares(struct line *lines, uint16_t *lanes, int radius)
{
    struct sums squares = load_sums(lanes);
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++)
        lines[i].squares = squares = add(squares, sum_squares(&lines[i].window, radius));
    store_sums(lanes, squares);
}

// Squares' sums are kept from row to row, and change by those of what columns change by. A block's means are made while
// the next one's squares are summed, and columns further on taken.
AVX512_INLINE void make_rows(const struct stencil_rows *rows, int radius, int factor, int shift)
{
    const int width = rows->width, whole = (width - 1 + radius) / BLOCK, blocks = (width + BLOCK - 1) / BLOCK;
    const struct rules rules = make_rules(factor, shift);
    const uint8_t *const *in = rows->in, *const came = in[2 * radius], *next = rows->next, *below = rows->next_below;
    const struct window window = {.last = _mm512_setzero_si512()};
    struct line lines[2] = {{came, rows->first ? came : in[-1], in[radius], rows->out, .window = window},
                            {in[2 * radius + 1], in[0], in[radius + 1], rows->below, .window = window}};
    uint16_t *lanes = rows->scratch;
#pragma GCC unroll 3
    for (int i = 0; i < AHEAD - 1; i++) {
        take_edges(&rules, lines, i, width, radius);
#pragma GCC unroll 2
        for (int k = 0; k < 2; k++)
            move(&lines[k].window, make_twos(lines[k].window.second, lines[k].window.third));
    }
    take_edges(&rules, lines, AHEAD - 1, width, radius);
    change_squares(lines, lanes, radius);
    take_edges(&rules, lines, AHEAD, width, radius);
    for (int block = 1, to = 0; block < blocks; block++, to += BLOCK_BYTES) {
        avx2_fetch(next + to);
        avx2_fetch(below + to);
        avx2_fetch(rows->later + to);
        avx2_fetch(rows->later_below + to);
#pragma GCC unroll 2
        for (int i = 0; i < 2; i++)
            avx512_store(lines[i].to + to, make_means(&rules, lines[i].squares, avx512_load(lines[i].centre + to)));
        change_squares(lines, lanes += BLOCK_LANES, radius);
        if (block + AHEAD < whole) {
            const int from = to + (AHEAD + 1) * BLOCK_BYTES - 4 * radius;
#pragma GCC unroll 2
            for (int i = 0; i < 2; i++)
                lines[i].window.third =
                    exchange(&rules, avx512_load(lines[i].in + from), avx512_load(lines[i].out + from));
        } else {
            take_edges(&rules, lines, block + AHEAD, width, radius);
        }
    }
    const int at = (blocks - 1) * BLOCK;
    const __mmask16 there = inside(at, width);
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++)
        _mm512_mask_storeu_epi32(lines[i].to + 4 * at, there,
                                 make_means(&rules, lines[i].squares, load_inside(lines[i].centre, at, width)));
}

// The columns of a first row's squares.
AVX512_INLINE void take_columns(const struct rules *rules, const struct stencil_rows *rows, struct window *window,
                                int block, int radius)
{
    const int at = block * BLOCK - radius;
    struct sums columns = {_mm512_setzero_si512(), _mm512_setzero_si512()};
    for (int i = 0; i <= 2 * radius; i++)
        columns = add(columns, exchange(rules, load_inside(rows->in[i], at, rows->width), _mm512_setzero_si512()));
    take_edge(window, columns, at, rows->width, radius);
}

// The squares of a first row, and half an area each, so that dividing rounds to nearest.
AVX512_INLINE void begin_squares(const struct stencil_rows *rows, int radius)
{
    const struct rules rules = make_rules(0, 0);
    const __m512i half = _mm512_set1_epi16((int16_t)((2 * radius + 1) * (2 * radius + 1) / 2));
    struct window window = {.last = _mm512_setzero_si512()};
    for (int i = 0; i < AHEAD - 1; i++) {
        take_columns(&rules, rows, &window, i, radius);
        move(&window, make_twos(window.second, window.third));
    }
    uint16_t *lanes = rows->scratch;
    for (int block = 0; block * BLOCK < rows->width; block++, lanes += BLOCK_LANES) {
        take_columns(&rules, rows, &window, block + AHEAD - 1, radius);
        store_sums(lanes, add((struct sums){half, half}, sum_squares(&window, radius)));
    }
}

#define MAKE(radius, factor, shift)                                                                                    \
    AVX512 static void make_##radius(const struct stencil_rows *rows)                                                  \
    {                                                                                                                  \
        if (rows->first)                                                                                               \
            begin_squares(rows, radius);                                                                               \
        make_rows(rows, radius, factor, shift);                                                                        \
    }
BLUR_SMALL_RADII(MAKE)
#undef MAKE

bool blur_avx512_fits(int radius)
{
    return avx512_works() && radius <= BLUR_SMALL_RADIUS;
}

size_t blur_avx512_bytes(int width)
{
    return sizeof(uint16_t) * BLOCK_LANES * ((size_t)width / BLOCK + 1);
}

void blur_avx512_rows(int radius, const struct stencil_rows *rows)
{
#define ENTRY(radius, factor, shift) [radius] = make_##radius,
    static void (*const make[BLUR_SMALL_RADIUS + 1])(const struct stencil_rows *rows) = {BLUR_SMALL_RADII(ENTRY)};
#undef ENTRY
    make[radius](rows);
}

#else

bool blur_avx512_fits(int radius)
{
    return false;
}

size_t blur_avx512_bytes(int width)
{
    return 0;
}

void blur_avx512_rows(int radius, const struct stencil_rows *rows) {}

#endif
