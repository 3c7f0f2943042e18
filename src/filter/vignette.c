// vignette.c: dark corners
#include "filter/filter.h"

#include <math.h>

enum { VIGNETTE_STRENGTH, VIGNETTE_START };
enum { ARGUMENT_STRENGTH, ARGUMENT_START, ARGUMENT_WIDTH, ARGUMENT_HEIGHT, ARGUMENT_ACROSS, ARGUMENT_DOWN, ARGUMENTS };

static const struct param params[] = {
    {"strength", PARAM_REAL, .min = -1, .max = 1, .preset = 0.6f, .step = 0.05f,
     .help = "darkness of the corners; 1: black, below 0: brighter"},
    {"start", PARAM_REAL, .max = 0.9f, .step = 0.05f,
     .help = "distance from the middle where the darkening begins; 0: the middle, 1: the corners"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    const double start = values->value[VIGNETTE_START], square = start * start;
    arguments->count = ARGUMENTS;
    arguments->value[ARGUMENT_STRENGTH] =
        (int32_t)floor(32768 * (double)values->value[VIGNETTE_STRENGTH] / (1 - square) + 0.5);
    arguments->value[ARGUMENT_START] = (int32_t)floor(65536 * square + 0.5);
    return true;
}

static void fit(const struct filter_values *values, const struct stage_size *size, struct filter_arguments *arguments)
{
    int32_t *to = arguments->value;
    to[ARGUMENT_WIDTH] = size->width;
    to[ARGUMENT_HEIGHT] = size->height;
    to[ARGUMENT_ACROSS] = (int32_t)floor((double)(1 << 28) / size->width + 0.5);
    to[ARGUMENT_DOWN] = (int32_t)floor((double)(1 << 28) / size->height + 0.5);
}

extern const struct filter filter_vignette;
const struct filter filter_vignette = {
    .name = "vignette",
    .summary = "darken the corners",
    .example = "vignette=0.8",
    .kind = FILTER_POINT,
    .color = FILTER_KEEPS_GREY,
    .params = params,
    .placed = true,
    .prepare = prepare,
    .fit = fit,
};
