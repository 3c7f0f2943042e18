// blur.c: the mean of a square
#include "filter/filter.h"
#include "filter/rows.h"

#include <string.h>

static const struct param params[] = {
    {.name = "radius",
     .type = PARAM_INT,
     .min = 1,
     .max = FILTER_RADIUS_MAX,
     .preset = 2,
     .step = 1,
     .help = "pixels on each side; 2 is a 5x5 square"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->radius = (int)values->value[0];
    return true;
}

// Scratch: the sums of each column over the rows in reach, then the sums over the square; both a byte lane each.
static size_t scratch_bytes(const struct filter_arguments *arguments, int width)
{
    const size_t lanes = 4 * ((size_t)width + 2 * (size_t)arguments->radius);
    return lanes * (sizeof(uint16_t) + sizeof(uint32_t));
}

VECTOR_CLONES static void add_row(uint16_t *restrict sums, const uint8_t *restrict row, int lanes)
{
    for (int i = 0; i < lanes; i++)
        sums[i] = (uint16_t)(sums[i] + row[i]);
}

VECTOR_CLONES static void exchange_row(uint16_t *restrict sums, const uint8_t *restrict in, const uint8_t *restrict out,
                                       int lanes)
{
    for (int i = 0; i < lanes; i++)
        sums[i] = (uint16_t)(sums[i] + in[i] - out[i]);
}

VECTOR_CLONES static void sum_squares(uint32_t *restrict squares, const uint16_t *restrict columns, int side, int lanes)
{
    for (int i = 0; i < lanes; i++)
        squares[i] = columns[i];
    for (int k = 1; k < side; k++) {
        for (int i = 0; i < lanes; i++)
            squares[i] += columns[i + 4 * k];
    }
}

// (sum + area / 2) / area. The quotient (2 sum' + 1) / (2 area) is at least 1 / (2 area) > 5e-4 away from every
// integer, far more than the 3e-5 that float can be off below 256, so that truncating it is exact.
VECTOR_CLONES static void divide_squares(uint8_t *restrict rgba, const uint32_t *restrict squares, int area, int lanes)
{
    const float half = 0.5f / (float)area;
    for (int i = 0; i < lanes; i++)
        rgba[i] = (uint8_t)(int)((float)(int)(2 * (squares[i] + (uint32_t)area / 2) + 1) * half);
}

static void stencil_row(const struct filter_arguments *arguments, const uint8_t *const *rows, uint8_t *rgba, int width,
                        void *scratch, bool first_row)
{
    const int radius = arguments->radius, side = 2 * radius + 1, lanes = 4 * (width + 2 * radius);
    uint32_t *squares = scratch;
    uint16_t *columns = (uint16_t *)(squares + lanes);
    if (first_row) {
        memset(columns, 0, (size_t)lanes * sizeof(*columns));
        for (int i = 0; i < side; i++)
            add_row(columns, rows[i] - 4 * radius, lanes);
    } else {
        exchange_row(columns, rows[2 * radius] - 4 * radius, rows[-1] - 4 * radius, lanes);
    }
    sum_squares(squares, columns, side, 4 * width);
    divide_squares(rgba, squares, side * side, 4 * width);
    row_copy_alpha(rgba, rows[radius], width);
}

extern const struct filter filter_blur;
const struct filter filter_blur = {
    .name = "blur",
    .summary = "box blur: the mean of the square around each pixel",
    .example = "blur=3",
    .kind = FILTER_STENCIL,
    .params = params,
    .kernel = "blur.cl",
    .prepare = prepare,
    .stencil_row = stencil_row,
    .scratch_bytes = scratch_bytes,
};
