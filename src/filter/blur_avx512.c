// blur_avx512.c: means of squares with AVX-512, two rows at a time
//
// The sums of squares are kept from row to row. From one to the next a row of pixels comes into reach and another one
// leaves it. The bytes of both are put side by side, those of even columns in one vector, those of odd ones in another,
// so that one instruction makes what each column changes by: four 16-bit lanes a column. Summed over the sides of
// squares (blur_window.h), this is what the squares change by. Columns are taken in blocks of 16, the first of which
// begins `radius` columns to the left of the row.
#include "filter/blur.h"

#include "filter/blur_window.h"

#ifdef HAVE_AVX512

// Radius, factor, shift, as in blur.h, for whatever is left of a large square's sum (all values were tried).
#define LARGE_RADII(ROW)                                                                                               \
    ROW(8, 58053, 8)                                                                                                   \
    ROW(9, 46475, 8)                                                                                                   \
    ROW(10, 38044, 8)                                                                                                  \
    ROW(11, 63430, 9)                                                                                                  \
    ROW(12, 53688, 9)                                                                                                  \
    ROW(13, 46029, 9)                                                                                                  \
    ROW(14, 39899, 9)                                                                                                  \
    ROW(15, 34917, 9)

// What a block takes besides its bytes.
struct rules {
    __m512i even_bytes, odd_bytes; // of two vectors
    __m512i differ;                // 1, -1
    __m512i factors, places;       // what divides a square's sum, and where its mean is then
    __m512i area, spare;           // of large squares
    int shift;
};

// How many areas a large square's sum may change by, up or down, where so many rows come into reach at once.
enum { ROWS_AT_ONCE = 2 };
static inline int count_spare(int radius)
{
    return ROWS_AT_ONCE * 255 / (2 * radius + 1) + 1;
}

// What is kept of a block's squares: their sums, or means and rests.
static inline int block_lanes(int radius)
{
    return (is_large(radius) ? 4 : 2) * VECTOR_LANES;
}

AVX512_INLINE struct rules make_rules(int radius, int factor, int shift)
{
    uint8_t even[BLOCK_BYTES], odd[BLOCK_BYTES], places[BLOCK_BYTES];
    for (int i = 0; i < BLOCK_BYTES; i++) {
        even[i] = (uint8_t)(i / 8 * 8 + i % 8 / 2 + i % 2 * BLOCK_BYTES);
        odd[i] = (uint8_t)(even[i] + 4);
        places[i] = (uint8_t)(i % 4 * 16 + (is_large(radius) ? 0 : shift));
    }
    return (struct rules){
        .even_bytes = avx512_load(even),
        .odd_bytes = avx512_load(odd),
        .differ = _mm512_set1_epi16((int16_t)0xff01),
        .factors = _mm512_set1_epi16((int16_t)factor),
        .places = avx512_load(places),
        .area = _mm512_set1_epi16((int16_t)((2 * radius + 1) * (2 * radius + 1))),
        .spare = _mm512_set1_epi16((int16_t)count_spare(radius)),
        .shift = shift,
    };
}

// What a block of columns changes by.
AVX512_INLINE struct sums exchange(const struct rules *rules, __m512i in, __m512i out)
{
    __asm__("" : "+v"(in), "+v"(out)); // compilers would load them twice
    const __m512i even = _mm512_permutex2var_epi8(in, rules->even_bytes, out);
    const __m512i odd = _mm512_permutex2var_epi8(in, rules->odd_bytes, out);
    return (struct sums){_mm512_maddubs_epi16(even, rules->differ), _mm512_maddubs_epi16(odd, rules->differ)};
}

AVX512_INLINE __m512i make_means(const struct rules *rules, int radius, struct sums squares, __m512i centres)
{
    const __m512i even = is_large(radius) ? squares.even : _mm512_mulhi_epu16(squares.even, rules->factors);
    const __m512i odd = is_large(radius) ? squares.odd : _mm512_mulhi_epu16(squares.odd, rules->factors);
    const __m512i evens = _mm512_mask_multishift_epi64_epi8(centres, 0x0707070707070707, rules->places, even);
    return _mm512_mask_multishift_epi64_epi8(evens, 0x7070707070707070, rules->places, odd);
}

// A row of a pair: rows that come into reach and leave it, its centre and output; and of where it is being made, what
// columns change by, and squares.
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

// What the rest comes to goes from it to the mean, in whole areas.
AVX512_INLINE __m512i settle(const struct rules *rules, __m512i mean, __m512i *rest)
{
    const __m512i quotient = _mm512_srli_epi16(_mm512_mulhi_epu16(*rest, rules->factors), (unsigned)rules->shift);
    const __m512i areas = _mm512_sub_epi16(quotient, rules->spare);
    *rest = _mm512_sub_epi16(*rest, _mm512_mullo_epi16(areas, rules->area));
    return _mm512_add_epi16(mean, areas);
}

// Sums of large squares take more than 16 bits. What is kept of them is their mean and the rest, with so many areas to
// spare that it is never below 0.
AVX512_INLINE struct sums change_large(const struct rules *rules, struct window *window, uint16_t *lanes, int radius)
{
    struct sums rests = add(load_sums(lanes), sum_squares(window, radius));
    struct sums means = load_sums(lanes + 2 * VECTOR_LANES);
    means.even = settle(rules, means.even, &rests.even);
    means.odd = settle(rules, means.odd, &rests.odd);
    store_sums(lanes, rests);
    store_sums(lanes + 2 * VECTOR_LANES, means);
    return means;
}

AVX512_INLINE void change_squares(const struct rules *rules, struct line *lines, uint16_t *lanes, int radius)
{
    struct sums squares = load_sums(lanes);
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++)
        if (is_large(radius))
            lines[i].squares = change_large(rules, &lines[i].window, lanes, radius);
        else
            lines[i].squares = squares = add(squares, sum_squares(&lines[i].window, radius));
    if (!is_large(radius))
        store_sums(lanes, squares);
}

// Squares' sums are kept from row to row, and change by those of what columns change by. A block's means are made while
// the next one's squares are summed, and columns further on taken.
AVX512_INLINE void make_rows(const struct stencil_rows *rows, int radius, int factor, int shift, bool past)
{
    const int width = rows->width, whole = (width - 1 + radius) / BLOCK, blocks = (width + BLOCK - 1) / BLOCK;
    const int ahead = count_ahead(radius);
    const struct rules rules = make_rules(radius, factor, shift);
    const uint8_t *const *in = rows->in, *const came = in[2 * radius];
    const struct window window = {.last = _mm512_setzero_si512()};
    struct line lines[2] = {{came, rows->first ? came : in[-1], in[radius], rows->out[0], .window = window},
                            {in[2 * radius + 1], in[0], in[radius + 1], rows->out[1], .window = window}};
    const struct next_rows next = rows->next;
    uint16_t *lanes = rows->scratch;
#pragma GCC unroll 4
    for (int i = 0; i < ahead; i++) {
        take_edges(&rules, lines, i, width, radius);
#pragma GCC unroll 2
        for (int k = 0; k < 2; k++)
            move(&lines[k].window, radius);
    }
    take_edges(&rules, lines, ahead, width, radius);
    change_squares(&rules, lines, lanes, radius);
    take_edges(&rules, lines, ahead + 1, width, radius);
    for (int block = 1, to = 0; block < blocks; block++, to += BLOCK_BYTES) {
        if (past)
            row_fetch_in(&next, 2, to);
        else
            row_fetch_next(&next, 2, to);
#pragma GCC unroll 2
        for (int i = 0; i < 2; i++)
            avx512_store_past(lines[i].to + to,
                              make_means(&rules, radius, lines[i].squares, avx512_load(lines[i].centre + to)), past);
        change_squares(&rules, lines, lanes += block_lanes(radius), radius);
        if (block + ahead + 1 < whole) {
            const int from = to + (ahead + 2) * BLOCK_BYTES - 4 * radius;
#pragma GCC unroll 2
            for (int i = 0; i < 2; i++)
                lines[i].window.taken =
                    exchange(&rules, avx512_load(lines[i].in + from), avx512_load(lines[i].out + from));
        } else {
            take_edges(&rules, lines, block + ahead + 1, width, radius);
        }
    }
    const int at = (blocks - 1) * BLOCK;
    const __mmask16 there = inside(at, width);
#pragma GCC unroll 2
    for (int i = 0; i < 2; i++)
        _mm512_mask_storeu_epi32(lines[i].to + 4 * at, there,
                                 make_means(&rules, radius, lines[i].squares, load_inside(lines[i].centre, at, width)));
}

// Adds input rows first..end-1 to a band's first squares.
AVX512_INLINE void add_rows(const struct rules *rules, const struct stencil_rows *rows, int first, int end, int radius)
{
    const int ahead = count_ahead(radius), width = rows->width;
    struct window window = {.last = _mm512_setzero_si512()};
    uint16_t *lanes = rows->scratch;
    for (int block = -ahead; block * BLOCK < width; block++) {
        const int at = (block + ahead) * BLOCK - radius;
        struct sums columns = {_mm512_setzero_si512(), _mm512_setzero_si512()};
        for (int i = first; i < end; i++)
            columns = add(columns, exchange(rules, load_inside(rows->in[i], at, width), _mm512_setzero_si512()));
        take_edge(&window, columns, at, width, radius);
        if (block < 0) {
            move(&window, radius);
            continue;
        }
        if (is_large(radius))
            change_large(rules, &window, lanes, radius);
        else
            store_sums(lanes, add(load_sums(lanes), sum_squares(&window, radius)));
        lanes += block_lanes(radius);
    }
}

// The squares of a first row, and half an area each, so that dividing rounds to nearest.
AVX512_INLINE void begin_squares(const struct stencil_rows *rows, int radius, int factor, int shift)
{
    const struct rules rules = make_rules(radius, factor, shift);
    const int side = 2 * radius + 1, area = side * side, step = is_large(radius) ? ROWS_AT_ONCE : side;
    const __m512i begin = _mm512_set1_epi16((int16_t)(area / 2 + (is_large(radius) ? count_spare(radius) * area : 0)));
    uint16_t *lanes = rows->scratch;
    for (int at = 0; at < rows->width; at += BLOCK, lanes += block_lanes(radius)) {
        store_sums(lanes, (struct sums){begin, begin});
        if (is_large(radius))
            store_sums(lanes + 2 * VECTOR_LANES, (struct sums){_mm512_setzero_si512(), _mm512_setzero_si512()});
    }
    for (int i = 0; i < side; i += step)
        add_rows(&rules, rows, i, i + step < side ? i + step : side, radius);
}

static bool goes_past(const struct stencil_rows *rows)
{
    return rows->past && avx512_fits(rows->out[0], rows->width, true) && avx512_fits(rows->out[1], rows->width, true);
}

#define MAKE(radius, factor, shift)                                                                                    \
    AVX512 static void make_##radius(const struct stencil_rows *rows)                                                  \
    {                                                                                                                  \
        if (rows->first)                                                                                               \
            begin_squares(rows, radius, factor, shift);                                                                \
        if (goes_past(rows))                                                                                           \
            make_rows(rows, radius, factor, shift, true);                                                              \
        else                                                                                                           \
            make_rows(rows, radius, factor, shift, false);                                                             \
    }
BLUR_SMALL_RADII(MAKE)
LARGE_RADII(MAKE)
#undef MAKE

bool blur_avx512_works(void)
{
    return avx512_works();
}

size_t blur_avx512_bytes(int radius, int width)
{
    return sizeof(uint16_t) * (size_t)block_lanes(radius) * ((size_t)width / BLOCK + 1);
}

void blur_avx512_rows(int radius, const struct stencil_rows *rows)
{
#define ENTRY(radius, factor, shift) [radius] = make_##radius,
    static void (*const make[FILTER_RADIUS_MAX + 1])(const struct stencil_rows *rows) = {BLUR_SMALL_RADII(ENTRY)
                                                                                             LARGE_RADII(ENTRY)};
#undef ENTRY
    make[radius](rows);
}

#else

bool blur_avx512_works(void)
{
    return false;
}

size_t blur_avx512_bytes(int radius, int width)
{
    return 0;
}

void blur_avx512_rows(int radius, const struct stencil_rows *rows) {}

#endif
