// rows.c: the generic rows: kernels/NAME.cl in a loop that compilers vectorise; compiled once per instruction set
#include "filter/rows.h"

#include "base/vector.h"
#include "filter/filter_kernels.h"
#include "filter/filter_list.h"

#include <string.h>

typedef pixel point_filter(pixel p, arguments args);
typedef pixel placed_filter(pixel p, int x, int y, arguments args);
typedef int stencil_filter(view v, arguments args);
typedef pixel second_filter(pixel p, pixel second, int x, int y, arguments args);

static void stream(const uint8_t *from, uint8_t *to, size_t bytes)
{
    size_t i = 0;
#if VECTOR_BYTES
    if ((uintptr_t)to % VECTOR_BYTES == 0) {
        for (; i + VECTOR_BYTES <= bytes; i += VECTOR_BYTES) {
            vec_fetch_once(from + i);
            vec_write_u8(to + i, vec_load_u8(from + i), true);
        }
    }
#endif
    memcpy(to + i, from + i, bytes - i);
}

INLINE void make_points(point_filter *filter, const struct filter_arguments *numbers, const uint8_t *from, uint8_t *to,
                        int width, bool streams)
{
    enum { PART = 256 }; // pixels; a processor computes one part while it writes the previous one
    const int32_t *restrict args = filter_numbers(numbers);
    pixel_word part[PART];
    for (int first = 0; first < width; first += PART, from += 4 * PART, to += 4 * PART) {
        const int count = width - first < PART ? width - first : PART;
        const pixel_word *in = (const pixel_word *)from;
        pixel_word *out = streams ? part : (pixel_word *)to;
        INDEPENDENT
        for (int x = 0; x < count; x++)
            out[x] = word_of(filter(pixel_of(in[x]), args));
        if (streams)
            stream((const uint8_t *)part, to, 4 * (size_t)count);
    }
}

INLINE void make_second(second_filter *filter, const struct filter_arguments *numbers, const uint8_t *from,
                        const uint8_t *other, uint8_t *to, int width, int y)
{
    const int32_t *restrict args = filter_numbers(numbers);
    const pixel_word *in = (const pixel_word *)from, *second = (const pixel_word *)other;
    pixel_word *out = (pixel_word *)to;
    INDEPENDENT
    for (int x = 0; x < width; x++)
        out[x] = word_of(filter(pixel_of(in[x]), pixel_of(second[x]), x, y, args));
}

INLINE void make_placed(placed_filter *filter, const struct filter_arguments *numbers, const uint8_t *from, uint8_t *to,
                        int width, int y)
{
    const int32_t *restrict args = filter_numbers(numbers);
    const pixel_word *in = (const pixel_word *)from;
    pixel_word *out = (pixel_word *)to;
    INDEPENDENT
    for (int x = 0; x < width; x++)
        out[x] = word_of(filter(pixel_of(in[x]), x, y, args));
}

// `reach`: rows above and below. Callers pass constants as `radius`, `reach` and `step` if that is faster.
INLINE void make_stencil(stencil_filter *filter, const struct filter_arguments *numbers,
                         const struct stencil_rows *rows, int radius, int reach, int step)
{
    // Copies the pointers, because compilers would reload the originals after each store.
    const uint8_t *in[2 * FILTER_REACH_MAX + 1] = {NULL};
    for (int i = 0; i < 2 * reach + 1; i++)
        in[i] = rows->in[i];
    const int32_t *restrict args = filter_numbers(numbers);
    uint8_t *restrict to = rows->out[0];
    const int bytes = step * rows->width;
    for (int i = 0; i < bytes; i++)
        to[i] = (uint8_t)filter((view){in + reach, i, step, radius, 0, 0}, args);
    if (step == 4 && !numbers->alpha) {
        const pixel_word *restrict centre = (const pixel_word *)in[reach];
        pixel_word *restrict words = (pixel_word *)to;
        for (int x = 0; x < rows->width; x++)
            words[x] = (words[x] & 0xffffff) | (centre[x] & 0xff000000);
    }
}

INLINE void make_stencils(stencil_filter *filter, const struct filter_arguments *numbers,
                          const struct stencil_rows *rows)
{
    if (numbers->rows == 1 && rows->step == 4)
        make_stencil(filter, numbers, rows, 1, 1, 4);
    else if (numbers->rows == 1)
        make_stencil(filter, numbers, rows, 1, 1, 1);
    else
        make_stencil(filter, numbers, rows, numbers->radius, numbers->rows, rows->step);
}

// The type of a filter's function decides the kind of its row function. The other kinds are never called.
INLINE pixel no_points(pixel p, arguments args)
{
    return p;
}

INLINE pixel no_placed(pixel p, int x, int y, arguments args)
{
    return p;
}

INLINE int no_stencil(view v, arguments args)
{
    return 0;
}

INLINE pixel no_second(pixel p, pixel second, int x, int y, arguments args)
{
    return p;
}

#define IF_POINT(it, yes, no) _Generic(&filter_##it, point_filter * : yes, default : no)
#define IF_PLACED(it, yes, no) _Generic(&filter_##it, placed_filter * : yes, default : no)
#define IF_STENCIL(it, yes, no) _Generic(&filter_##it, stencil_filter * : yes, default : no)
#define IF_SECOND(it, yes, no) _Generic(&filter_##it, second_filter * : yes, default : no)
#define FUNCTIONS(it)                                                                                                  \
    static __attribute__((unused)) void it##_points(const struct filter_arguments *numbers, const uint8_t *from,       \
                                                    uint8_t *to, int width, bool stream)                               \
    {                                                                                                                  \
        make_points(IF_POINT(it, &filter_##it, &no_points), numbers, from, to, width, stream);                         \
    }                                                                                                                  \
    static __attribute__((unused)) void it##_placed(const struct filter_arguments *numbers, const uint8_t *from,       \
                                                    uint8_t *to, int width, int y)                                     \
    {                                                                                                                  \
        make_placed(IF_PLACED(it, &filter_##it, &no_placed), numbers, from, to, width, y);                             \
    }                                                                                                                  \
    static __attribute__((unused)) void it##_stencil(const struct filter_arguments *numbers,                           \
                                                     const struct stencil_rows *rows)                                  \
    {                                                                                                                  \
        make_stencils(IF_STENCIL(it, &filter_##it, &no_stencil), numbers, rows);                                       \
    }                                                                                                                  \
    static __attribute__((unused)) void it##_second(const struct filter_arguments *numbers, const uint8_t *from,       \
                                                    const uint8_t *second, uint8_t *to, int width, int y)              \
    {                                                                                                                  \
        make_second(IF_SECOND(it, &filter_##it, &no_second), numbers, from, second, to, width, y);                     \
    }
#define ROW(it)                                                                                                        \
    {.name = "generic",                                                                                                \
     .filter = #it,                                                                                                    \
     .point = IF_POINT(it, it##_points, NULL),                                                                         \
     .placed = IF_PLACED(it, it##_placed, NULL),                                                                       \
     .stencil = IF_STENCIL(it, it##_stencil, NULL),                                                                    \
     .second = IF_SECOND(it, it##_second, NULL),                                                                       \
     .rows = 1},

KERNEL_LIST(FUNCTIONS)

static void table_points(const struct filter_arguments *numbers, const uint8_t *from, uint8_t *to, int width,
                         bool stream)
{
    make_points(&looked_up, numbers, from, to, width, stream);
}

#if VECTOR_BYTES
extern const struct row_variant VECTORS_NAME(rows_points)[], VECTORS_NAME(rows_near)[], VECTORS_NAME(rows_placed)[];
extern const struct row_variant VECTORS_NAME(rows_blur)[], VECTORS_NAME(rows_convolve)[],
    VECTORS_NAME(rows_separable)[], VECTORS_NAME(rows_square)[], VECTORS_NAME(rows_canny)[],
    VECTORS_NAME(rows_unsharp)[];
#endif
extern warp_row VECTORS_NAME(row_warp), VECTORS_NAME(row_taps);
extern warp_places VECTORS_NAME(row_warp_at);
static const struct row_variant generic[] = {{.name = "generic", .tables = true, .point = table_points},
                                             KERNEL_LIST(ROW){0}};

static void to_grey(const uint8_t *restrict rgba, uint8_t *restrict grey, int width)
{
    for (int x = 0; x < width; x++)
        grey[x] = (uint8_t)((const pixel_word *)rgba)[x];
}

static void from_grey(const uint8_t *restrict grey, const uint8_t *restrict alpha, uint8_t *restrict rgba, int width)
{
    enum { PIXELS = 64, FETCH_TO_WRITE_DISTANCE = 2048 }; // pixels; bytes
    const pixel_word *restrict kept = (const pixel_word *)alpha;
    pixel_word *restrict to = (pixel_word *)rgba;
    for (int first = 0; first < width; first += PIXELS) {
        const int end = width - first < PIXELS ? width : first + PIXELS;
#if VECTOR_BYTES
        for (int i = 0; i < 4 * PIXELS; i += CACHE_LINE)
            vec_fetch_to_write(rgba + 4 * first + i + FETCH_TO_WRITE_DISTANCE);
#endif
        for (int x = first; x < end; x++)
            to[x] = grey[x] * 0x010101u | (kept ? kept[x] & 0xff000000u : 0xff000000u);
    }
}

static const struct row_variant *const variants[] = {
#if VECTOR_BYTES
    VECTORS_NAME(rows_points),
    VECTORS_NAME(rows_placed),
    VECTORS_NAME(rows_near),
    VECTORS_NAME(rows_blur),
    VECTORS_NAME(rows_convolve),
    VECTORS_NAME(rows_separable),
    VECTORS_NAME(rows_square),
    VECTORS_NAME(rows_canny),
    VECTORS_NAME(rows_unsharp),
#endif
    NULL,
};
const struct row_level VECTORS_NAME(row_level) = {variants,
                                                  generic,
                                                  to_grey,
                                                  from_grey,
                                                  stream,
                                                  VECTORS_NAME(row_warp),
                                                  VECTORS_NAME(row_taps),
                                                  VECTORS_NAME(row_warp_at)};
