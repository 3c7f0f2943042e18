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

enum { SIDE = 3 }; // weights of 1, and of -1

VECTOR_CLONES static void relief_row(const uint8_t *const *bright, const uint8_t *const *dark, uint8_t *restrict rgba,
                                     int lanes)
{
    const uint8_t *restrict a = bright[0], *restrict b = bright[1], *restrict c = bright[2];
    const uint8_t *restrict d = dark[0], *restrict e = dark[1], *restrict f = dark[2];
    for (int i = 0; i < lanes; i++) {
        const int16_t sum = (int16_t)(128 + a[i] + b[i] + c[i] - d[i] - e[i] - f[i]);
        rgba[i] = (uint8_t)row_sat8(sum);
    }
}

static void stencil_row(const struct filter_arguments *arguments, const uint8_t *const *rows, uint8_t *rgba, int width,
                        void *scratch, bool first_row)
{
    const uint8_t *bright[SIDE], *dark[SIDE];
    int brights = 0, darks = 0;
    for (int i = 0; i < WEIGHTS; i++) {
        const uint8_t *at = rows[i / 3] + 4 * (i % 3 - 1);
        if (arguments->value[i] > 0)
            bright[brights++] = at;
        else if (arguments->value[i] < 0)
            dark[darks++] = at;
    }
    relief_row(bright, dark, rgba, 4 * width);
    row_copy_alpha(rgba, rows[1], width);
}

extern const struct filter filter_emboss;
const struct filter filter_emboss = {
    .name = "emboss",
    .summary = "relief on mid-grey, lit from one of eight directions",
    .example = "emboss=ne",
    .kind = FILTER_STENCIL,
    .params = params,
    .kernel = "emboss.cl",
    .prepare = prepare,
    .stencil_row = stencil_row,
};
