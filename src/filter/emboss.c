// emboss.c: relief lit from one of eight directions
#include "filter/filter.h"

enum { RING = 8, WEIGHTS = 9 };

static const struct param params[] = {
    {"direction", PARAM_CHOICE, .max = RING - 1, .step = 1, .choices = "nw|n|ne|e|se|s|sw|w",
     .help = "direction of the light source"},
    {0},
};

// Computes the 3x3 weights, row by row: -1 for the three neighbours towards the light, +1 for the three away from it.
static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    static const int place[RING] = {0, 1, 2, 5, 8, 7, 6, 3}; // nw n ne e se s sw w in the 3x3 square
    const int light = (int)values->value[0];
    arguments->count = WEIGHTS;
    for (int i = 0; i < WEIGHTS; i++)
        arguments->value[i] = 0;
    for (int side = -1; side <= 1; side++) {
        arguments->value[place[(light + side + RING) % RING]] = -1;
        arguments->value[place[(light + side + RING / 2) % RING]] = 1;
    }
    return true;
}

extern const struct filter filter_emboss;
const struct filter filter_emboss = {
    .name = "emboss",
    .summary = "emboss: grey relief, lit from one of eight directions",
    .example = "emboss=ne",
    .kind = FILTER_STENCIL,
    .params = params,
    .radius = 1,
    .prepare = prepare,
};
