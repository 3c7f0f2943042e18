// levels.c: black point, white point and gamma
#include "filter/tables.h"

#include <math.h>

enum { LEVELS_BLACK, LEVELS_WHITE, LEVELS_GAMMA, LEVELS_LOW, LEVELS_HIGH, LEVELS_CHANNEL };

static const struct param params[] = {
    {"black", PARAM_INT, .max = 254, .step = 2, .help = "value that becomes `low`"},
    {"white", PARAM_INT, .min = 1, .max = 255, .preset = 255, .step = 2,
     .help = "value that becomes `high`; above `black`"},
    {"gamma", PARAM_REAL, .min = 0.1f, .max = 10, .preset = 1, .step = 0.05f,
     .help = "gamma between them; values above 1 brighten"},
    {"low", PARAM_INT, .max = 255, .step = 2, .help = "darkest result"},
    {"high", PARAM_INT, .max = 255, .preset = 255, .step = 2, .help = "brightest result; below `low`: inverts"},
    {"channel", PARAM_CHOICE, .max = 3, .step = 1, .choices = TABLES_CHANNELS, .help = "the channels that change"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    const float *value = values->value;
    const double black = value[LEVELS_BLACK], width = value[LEVELS_WHITE] - black;
    const double low = value[LEVELS_LOW], height = value[LEVELS_HIGH] - low;
    double result[FILTER_LEVELS];
    *why = "black must be below white";
    if (width <= 0)
        return false;
    for (int i = 0; i < FILTER_LEVELS; i++)
        result[i] = low + height * pow(fmin(fmax((i - black) / width, 0), 1), 1.0 / value[LEVELS_GAMMA]);
    tables_fill(arguments, (int)value[LEVELS_CHANNEL], result);
    return true;
}

extern const struct filter filter_levels;
const struct filter filter_levels = {
    .name = "levels",
    .summary = "set the black point, the white point and the gamma",
    .example = "levels=20:220:1.2",
    .kind = FILTER_POINT,
    .table = true,
    .params = params,
    .prepare = prepare,
};
