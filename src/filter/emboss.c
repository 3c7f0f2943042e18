// emboss.c: relief lit from one of eight directions
#include "filter/filter.h"
#include "filter/rows.h"

enum { RING = 8, WEIGHTS = 9 };

static const struct param params[] = {
    {.name = "direction",
     .type = PARAM_CHOICE,
     .max = RING - 1,
     .step = 1,
     .choices = "nw|n|ne|e|se|s|sw|w",
     .help = "where the light comes from"},
    {0},
};

// The 3x3 weights, row by row: -1 on the three neighbours towards the light, +1 on the three away from it.
static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    static const int place[RING] = {0, 1, 2, 5, 8, 7, 6, 3}; // nw n ne e se s sw w in the 3x3 square
    const int light = (int)values->value[0];
    arguments->radius = 1;
    arguments->count = WEIGHTS;
    for (int i = 0; i < WEIGHTS; i++)
        arguments->value[i] = 0;
    for (int side = -1; side <= 1; side++) {
        arguments->value[place[(light + side + RING) % RING]] = -1;
        arguments->value[place[(light + side + RING / 2) % RING]] = 1;
    }
    return true;
}

VECTOR_CLONES static void weigh_row(const int32_t *weight, const uint8_t *restrict above, const uint8_t *restrict here,
                                    const uint8_t *restrict below, uint8_t *restrict rgba, int lanes)
{
    int16_t w[WEIGHTS];
    for (int i = 0; i < WEIGHTS; i++)
        w[i] = (int16_t)weight[i];
    for (int i = 0; i < lanes; i++) {
        const int16_t sum =
            (int16_t)(128 + w[0] * above[i - 4] + w[1] * above[i] + w[2] * above[i + 4] + w[3] * here[i - 4] +
                      w[5] * here[i + 4] + w[6] * below[i - 4] + w[7] * below[i] + w[8] * below[i + 4]);
        rgba[i] = (uint8_t)row_sat8(sum);
    }
}

static void stencil_row(const struct filter_arguments *arguments, const uint8_t *const *rows, uint8_t *rgba, int width,
                        void *scratch, bool first_row)
{
    weigh_row(arguments->value, rows[0], rows[1], rows[2], rgba, 4 * width);
    row_copy_alpha(rgba, rows[1], width);
}

extern const struct filter filter_emboss;
const struct filter filter_emboss = {
    .name = "emboss",
    .summary = "relief on grey, lit from one of eight directions",
    .example = "emboss=ne",
    .kind = FILTER_STENCIL,
    .params = params,
    .kernel = "emboss.cl",
    .prepare = prepare,
    .stencil_row = stencil_row,
};
