// sharpen.c: a pixel pushed away from its four neighbours
#include "filter/filter.h"
#include "filter/rows.h"

#include <math.h>

static const struct param params[] = {
    {.name = "amount", .type = PARAM_REAL, .max = 8, .preset = 1, .step = 0.25f, .help = "0 changes nothing"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->radius = 1;
    arguments->count = 1;
    arguments->value[0] = (int32_t)floor(values->value[0] * 256.0 + 0.5);
    return true;
}

VECTOR_CLONES static void push_row(int amount, const uint8_t *restrict above, const uint8_t *restrict here,
                                   const uint8_t *restrict below, uint8_t *restrict to, int step, int lanes)
{
    for (int i = 0; i < lanes; i++) {
        const int away = 4 * here[i] - above[i] - here[i + step] - below[i] - here[i - step];
        to[i] = (uint8_t)row_sat8(here[i] + ((amount * away + 128) >> 8));
    }
}

static void stencil_row(const struct filter_arguments *arguments, const struct stencil_rows *rows)
{
    push_row(arguments->value[0], rows->in[0], rows->in[1], rows->in[2], rows->out, rows->pixel_bytes,
             rows->pixel_bytes * rows->width);
    row_copy_alpha(rows, rows->in[1]);
}

extern const struct filter filter_sharpen;
const struct filter filter_sharpen = {
    .name = "sharpen",
    .summary = "crisper edges",
    .example = "sharpen=1.5",
    .kind = FILTER_STENCIL,
    .params = params,
    .kernel = "sharpen.cl",
    .prepare = prepare,
    .stencil_row = stencil_row,
    .grey_rows = true,
};
