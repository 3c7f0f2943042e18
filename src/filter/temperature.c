// temperature.c: the colour of the light: white balance
#include "filter/tables.h"

#include <math.h>

enum { NEUTRAL_KELVIN = 6500 };

static const struct param params[] = {
    {"kelvin", PARAM_INT, .min = 2000, .max = 12000, .preset = 5000, .step = 100,
     .help = "colour temperature of white in the result; 6500 has no effect, less is warmer. Automatic: `grayworld`"},
    {"tint", PARAM_REAL, .min = -100, .max = 100, .step = 2, .help = "above 0: more green; below 0: more magenta"},
    {0},
};

// Writes the linear light of red, green and blue of a black body with luminance 1. The chromaticity is that of M.
// Krystek's "An algorithm to calculate correlated colour temperature" (1985), in CIE 1960 (u, v).
static void light_of(double t, double tint, double rgb[3])
{
    static const double to_rgb[3][3] = {
        {3.2406, -1.5372, -0.4986}, {-0.9689, 1.8758, 0.0415}, {0.0557, -0.2040, 1.0570}}; // IEC 61966-2-1
    const double u =
        (0.860117757 + 1.54118254e-4 * t + 1.28641212e-7 * t * t) / (1 + 8.42420235e-4 * t + 7.08145163e-7 * t * t);
    const double v =
        (0.317398726 + 4.22806245e-5 * t + 4.20481691e-8 * t * t) / (1 - 2.89741816e-5 * t + 1.61456053e-7 * t * t) +
        tint / 3000;
    const double x = 3 * u, y = 2 * v, z = 4 - u - 10 * v; // times 2u - 8v + 4
    for (int i = 0; i < 3; i++)
        rgb[i] = fmax((to_rgb[i][0] * x + to_rgb[i][1] * y + to_rgb[i][2] * z) / y, 0);
}

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    double factor[3], neutral[3];
    light_of(values->value[0], values->value[1], factor);
    light_of(NEUTRAL_KELVIN, 0, neutral);
    for (int i = 0; i < 3; i++)
        factor[i] /= neutral[i];
    tables_multiply(arguments, factor);
    return true;
}

extern const struct filter filter_temperature;
const struct filter filter_temperature = {
    .name = "temperature",
    .summary = "make the light warmer or colder",
    .example = "temperature=4500",
    .kind = FILTER_POINT,
    .table = true,
    .params = params,
    .prepare = prepare,
};
