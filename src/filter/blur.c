// blur.c: the mean of a square
#include "filter/blur.h"
#include "filter/filter.h"
#include "filter/rows.h"

#include <string.h>

static const struct param params[] = {
    {"radius", PARAM_INT, .min = 1, .max = FILTER_RADIUS_MAX, .preset = 2, .step = 1,
     .help = "radius in pixels; 2 averages 5x5 pixels"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->radius = (int)values->value[0];
    return true;
}

// Sums of columns over the rows in reach, and room for what is read behind them.
static size_t scratch_lanes(int radius, int width)
{
    return 4 * ((size_t)width + 2 * (size_t)radius) + 16;
}

// Scratch: what blur_avx512.c keeps, or what blur_avx2.c does; behind it, for pixels that are not its, the sums of
// columns, for small squares even and odd bytes apart.
static size_t scratch_bytes(const struct filter_arguments *arguments, int width)
{
    const int radius = arguments->radius;
    if (blur_avx512_works())
        return blur_avx512_bytes(radius, width);
    return scratch_lanes(radius, width) * sizeof(uint16_t) +
           (radius > BLUR_SMALL_RADIUS ? 0 : blur_avx2_bytes(radius, width));
}

VECTOR_CLONES static void add_row(uint16_t *restrict even, uint16_t *restrict odd, const byte_pair *restrict row,
                                  int pairs)
{
    for (int i = 0; i < pairs; i++) {
        even[i] = (uint16_t)(even[i] + (row[i] & 255));
        odd[i] = (uint16_t)(odd[i] + (row[i] >> 8));
    }
}

VECTOR_CLONES static void exchange_row(uint16_t *restrict even, uint16_t *restrict odd, const byte_pair *restrict in,
                                       const byte_pair *restrict out, int pairs)
{
    for (int i = 0; i < pairs; i++) {
        even[i] = (uint16_t)(even[i] + (in[i] & 255) - (out[i] & 255));
        odd[i] = (uint16_t)(odd[i] + (in[i] >> 8) - (out[i] >> 8));
    }
}

static void begin_columns(uint16_t *even, uint16_t *odd, int radius, int pairs)
{
    for (int i = 0; i < pairs; i++)
        even[i] = odd[i] = blur_begin_column(radius, i / 2);
}

// Column sums, from the left end of the first square on, and what the squares' means become.
struct squares {
    const uint16_t *even, *odd;
    const byte_pair *centre;
    byte_pair *to;
    int pairs;
};

// Means in 16-bit lanes. In loops of one step each: only so do compilers find the processors' instruction for the upper
// half of a 16-bit product.
#define SMALL_MEANS(radius, factor, shift)                                                                             \
    VECTOR_CLONES static void small_means_##radius(const struct squares *squares)                                      \
    {                                                                                                                  \
        enum { SIDE = 2 * radius + 1 };                                                                                \
        const byte_pair *restrict alpha = (const byte_pair *)row_alpha;                                                \
        uint16_t even[ROW_CHUNK], odd[ROW_CHUNK], even_mean[ROW_CHUNK], odd_mean[ROW_CHUNK];                           \
        for (int first = 0; first < squares->pairs; first += ROW_CHUNK) {                                              \
            const int count = squares->pairs - first < ROW_CHUNK ? squares->pairs - first : ROW_CHUNK;                 \
            const uint16_t *restrict evens = squares->even + first, *restrict odds = squares->odd + first;             \
            const byte_pair *restrict centre = squares->centre + first;                                                \
            byte_pair *restrict to = squares->to + first;                                                              \
            for (int i = 0; i < count; i++) {                                                                          \
                uint16_t e = 0, o = 0;                                                                                 \
                for (int k = 0; k < SIDE; k++) {                                                                       \
                    e = (uint16_t)(e + evens[i + 2 * k]);                                                              \
                    o = (uint16_t)(o + odds[i + 2 * k]);                                                               \
                }                                                                                                      \
                even[i] = e;                                                                                           \
                odd[i] = o;                                                                                            \
            }                                                                                                          \
            for (int i = 0; i < count; i++)                                                                            \
                even_mean[i] = (uint16_t)((uint32_t)even[i] * factor##u >> 16);                                        \
            for (int i = 0; i < count; i++)                                                                            \
                odd_mean[i] = (uint16_t)((uint32_t)odd[i] * factor##u >> 16);                                          \
            for (int i = 0; i < count; i++)                                                                            \
                to[i] = row_join((uint16_t)(even_mean[i] >> shift), (uint16_t)(odd_mean[i] >> shift), centre[i],       \
                                 alpha[i]);                                                                            \
        }                                                                                                              \
    }
BLUR_SMALL_RADII(SMALL_MEANS)
#undef SMALL_MEANS

#define SMALL_ENTRY(radius, factor, shift) [radius] = small_means_##radius,
static void (*const small_means[BLUR_SMALL_RADIUS + 1])(const struct squares *squares) = {
    BLUR_SMALL_RADII(SMALL_ENTRY)};
#undef SMALL_ENTRY

// Pixels from `first` on.
static void make_pixels(int radius, const struct stencil_rows *rows, int first, void *scratch)
{
    const int count = rows->width - first, side = 2 * radius + 1, pairs = 2 * (count + 2 * radius);
    const int left = 4 * (first - radius);
    uint16_t *even = scratch, *odd = even + pairs;
    if (rows->first) {
        begin_columns(even, odd, radius, pairs);
        for (int i = 0; i < side; i++)
            add_row(even, odd, (const byte_pair *)(rows->in[i] + left), pairs);
    } else {
        exchange_row(even, odd, (const byte_pair *)(rows->in[2 * radius] + left),
                     (const byte_pair *)(rows->in[-1] + left), pairs);
    }
    const struct squares squares = {even, odd, (const byte_pair *)(rows->in[radius] + 4 * first),
                                    (byte_pair *)(rows->out[0] + 4 * first), 2 * count};
    small_means[radius](&squares);
}

VECTOR_CLONES static void add_bytes(uint16_t *restrict columns, const uint8_t *restrict row, int count)
{
    for (int i = 0; i < count; i++)
        columns[i] = (uint16_t)(columns[i] + row[i]);
}

VECTOR_CLONES static void exchange_bytes(uint16_t *restrict columns, const uint8_t *restrict in,
                                         const uint8_t *restrict out, int count)
{
    for (int i = 0; i < count; i++)
        columns[i] = (uint16_t)(columns[i] + in[i] - out[i]);
}

// What a large square's sum changes by, from a pixel to the next but one. `side`: columns of a square, in channels.
VECTOR_CLONES static void make_steps(int32_t *restrict steps, const uint16_t *restrict columns, int side, int count)
{
    for (int i = 0; i < count; i++)
        steps[i] = (int16_t)(columns[i + side] - columns[i] + columns[i + side + 4] - columns[i + 4]);
}

// Sums of two squares side by side, four channels each.
typedef int32_t square_sums __attribute__((vector_size(32), aligned(4), may_alias));
enum { SQUARE_LANES = sizeof(square_sums) / sizeof(int32_t) };

// Makes sums, which run along the row, of steps; the next ones are left in `running`.
VECTOR_CLONES static void run_sums(int32_t running[SQUARE_LANES], int32_t *sums, int count)
{
    square_sums sum = *(square_sums *)running;
    for (int i = 0; i < count; i += SQUARE_LANES) {
        const square_sums step = *(square_sums *)(sums + i);
        *(square_sums *)(sums + i) = sum;
        sum += step;
    }
    *(square_sums *)running = sum;
}

// sum / area. The quotient (2 sum + 1) / (2 area) is at least 1 / (2 area) > 5e-4 away from every integer, far more
// than the 3e-5 that float can be off below 256, so that truncating it is exact.
VECTOR_CLONES static void divide_sums(uint8_t *restrict rgba, const uint8_t *restrict centre,
                                      const int32_t *restrict sums, int area, int count)
{
    const uint8_t *restrict alpha = (const uint8_t *)row_alpha;
    const float half = 0.5f / (float)area;
    for (int i = 0; i < count; i++) {
        const uint8_t mean = (uint8_t)(int)((float)(2 * sums[i] + 1) * half);
        rgba[i] = (uint8_t)((mean & ~alpha[i]) | (centre[i] & alpha[i]));
    }
}

// A row of large squares. Their sums take more than 16 bits, and run from pixel to pixel.
static void make_large(int radius, const struct stencil_rows *rows)
{
    enum { CHUNK = sizeof(row_alpha) };
    const int side = 2 * radius + 1, area = side * side, count = 4 * (rows->width + 2 * radius);
    uint16_t *columns = rows->scratch;
    if (rows->first) {
        memset(columns, 0, scratch_lanes(radius, rows->width) * sizeof(*columns));
        for (int i = 0; i < side; i++)
            add_bytes(columns, rows->in[i] - 4 * radius, count);
    } else {
        exchange_bytes(columns, rows->in[2 * radius] - 4 * radius, rows->in[-1] - 4 * radius, count);
    }
    int32_t running[SQUARE_LANES], sums[CHUNK];
    for (int i = 0; i < SQUARE_LANES; i++) {
        running[i] = area / 2;
        for (int k = 0; k < side; k++)
            running[i] += columns[i + 4 * k];
    }
    const uint8_t *centre = rows->in[radius];
    for (int first = 0; first < 4 * rows->width; first += CHUNK) {
        const int bytes = 4 * rows->width - first < CHUNK ? 4 * rows->width - first : CHUNK;
        make_steps(sums, columns + first, 4 * side, (bytes + 4) & -SQUARE_LANES);
        run_sums(running, sums, bytes);
        divide_sums(rows->out[0] + first, centre + first, sums, area, bytes);
    }
}

static void make_row(int radius, const struct stencil_rows *rows)
{
    if (radius > BLUR_SMALL_RADIUS) {
        make_large(radius, rows);
        return;
    }
    const int done = blur_avx2_row(radius, rows);
    if (done < rows->width)
        make_pixels(radius, rows, done, (uint8_t *)rows->scratch + blur_avx2_bytes(radius, rows->width));
}

static void stencil_rows(const struct filter_arguments *arguments, const struct stencil_rows *rows)
{
    const int radius = arguments->radius;
    if (blur_avx512_works()) {
        blur_avx512_rows(radius, rows);
        return;
    }
    const struct stencil_rows below = rows_below(rows, 1);
    make_row(radius, rows);
    make_row(radius, &below);
}

static bool bare_rows(const struct filter_arguments *arguments)
{
    return blur_avx512_works();
}

extern const struct filter filter_blur;
const struct filter filter_blur = {
    .name = "blur",
    .summary = "box blur: mean of the square around each pixel",
    .example = "blur=3",
    .kind = FILTER_STENCIL,
    .params = params,
    .prepare = prepare,
    .stencil_row = stencil_rows,
    .more_rows = 1,
    .bare_rows = bare_rows,
    .scratch_bytes = scratch_bytes,
};
