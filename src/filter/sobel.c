// sobel.c: strength of edges
#include "filter/filter.h"
#include "filter/rows.h"

#include <math.h>

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->radius = 1;
    return true;
}

// The integer nearest to the root: up to 255 a root is at least 4.9e-4 away from every half, so that float is exact.
VECTOR_CLONES static void gradient_row(const uint8_t *restrict above, const uint8_t *restrict here,
                                       const uint8_t *restrict below, uint8_t *restrict to, int step, int lanes)
{
    for (int i = 0; i < lanes; i++) {
        const int left = i - step, right = i + step;
        const int16_t gx =
            (int16_t)(above[right] - above[left] + 2 * (here[right] - here[left]) + below[right] - below[left]);
        const int16_t gy =
            (int16_t)(below[left] - above[left] + 2 * (below[i] - above[i]) + below[right] - above[right]);
        const int root = (int)(sqrtf((float)(gx * gx + gy * gy)) + 0.5f);
        to[i] = (uint8_t)(root > 255 ? 255 : root);
    }
}

static void stencil_row(const struct filter_arguments *arguments, const struct stencil_rows *rows)
{
    gradient_row(rows->in[0], rows->in[1], rows->in[2], rows->out, rows->pixel_bytes, rows->pixel_bytes * rows->width);
    row_copy_alpha(rows, rows->in[1]);
}

extern const struct filter filter_sobel;
const struct filter filter_sobel = {
    .name = "sobel",
    .summary = "strength of edges (Sobel gradient magnitude)",
    .example = "gray,sobel",
    .kind = FILTER_STENCIL,
    .kernel = "sobel.cl",
    .prepare = prepare,
    .stencil_row = stencil_row,
    .grey_rows = true,
};
