// median.c: the middle of nine, which removes specks and keeps edges
#include "filter/filter.h"
#include "filter/rows.h"

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->radius = 1;
    return true;
}

static inline uint8_t lower(uint8_t a, uint8_t b)
{
    return a < b ? a : b;
}

static inline uint8_t upper(uint8_t a, uint8_t b)
{
    return a > b ? a : b;
}

static inline uint8_t middle(uint8_t a, uint8_t b, uint8_t c)
{
    return upper(lower(a, b), lower(upper(a, b), c));
}

// With each column sorted, the median of nine is the middle of: the largest low, the middle middle, the smallest high.
VECTOR_CLONES static void median_row(const uint8_t *restrict above, const uint8_t *restrict here,
                                     const uint8_t *restrict below, uint8_t *restrict to, int step, int lanes)
{
    for (int i = 0; i < lanes; i++) {
        uint8_t low[3], mid[3], high[3];
        for (int k = 0; k < 3; k++) {
            const int at = i + step * (k - 1);
            const uint8_t a = above[at], b = here[at], c = below[at];
            low[k] = lower(lower(a, b), c);
            high[k] = upper(upper(a, b), c);
            mid[k] = middle(a, b, c);
        }
        to[i] = middle(upper(upper(low[0], low[1]), low[2]), middle(mid[0], mid[1], mid[2]),
                       lower(lower(high[0], high[1]), high[2]));
    }
}

static void stencil_row(const struct filter_arguments *arguments, const struct stencil_rows *rows)
{
    median_row(rows->in[0], rows->in[1], rows->in[2], rows->out, rows->pixel_bytes, rows->pixel_bytes * rows->width);
    row_copy_alpha(rows, rows->in[1]);
}

extern const struct filter filter_median;
const struct filter filter_median = {
    .name = "median",
    .summary = "median of the 3x3 square: removes specks, keeps edges",
    .example = "median",
    .kind = FILTER_STENCIL,
    .kernel = "median.cl",
    .prepare = prepare,
    .stencil_row = stencil_row,
    .grey_rows = true,
};
