// curves.c: a tone curve through points: a natural cubic spline (docs/pixels.md section 3)
#include "filter/tables.h"

enum { POINTS_MOST = FILTER_MATRIX / 2 };

static const struct param params[] = {
    {"points", PARAM_POINTS, .max = 4, .step = 1, .choices = "none|contrast|lighter|darker|negative",
     .help = "points x/y of the curve from left to right, 0/0 to 255/255, or a preset"},
    {"channel", PARAM_CHOICE, .max = 3, .step = 1, .choices = TABLES_CHANNELS, .help = "the channels that change"},
    {0},
};

static const struct {
    int count;
    float numbers[10];
} presets[] = {
    {4, {0, 0, 255, 255}},           {10, {0, 0, 64, 44, 128, 128, 192, 212, 255, 255}},
    {6, {0, 0, 110, 150, 255, 255}}, {6, {0, 0, 150, 110, 255, 255}},
    {4, {0, 255, 255, 0}},
};

struct curve {
    int count;
    double x[POINTS_MOST], y[POINTS_MOST], second[POINTS_MOST]; // derivative
};

// Returns false if the points are wrong.
static bool set_points(struct curve *curve, const float *numbers, int count)
{
    curve->count = count / 2;
    for (int i = 0; i < curve->count; i++) {
        const double x = curve->x[i] = numbers[2 * i], y = curve->y[i] = numbers[2 * i + 1];
        if (x < 0 || x > 255 || y < 0 || y > 255 || (i > 0 && x < curve->x[i - 1] + 1))
            return false;
    }
    return true;
}

// Computes the second derivatives.
static void bend(struct curve *curve)
{
    const double *x = curve->x, *y = curve->y;
    double *second = curve->second, factor[POINTS_MOST] = {0}; // of the next second derivative
    second[0] = second[curve->count - 1] = 0;
    for (int i = 1; i < curve->count - 1; i++) {
        const double left = x[i] - x[i - 1], right = x[i + 1] - x[i];
        const double turn = 6 * ((y[i + 1] - y[i]) / right - (y[i] - y[i - 1]) / left);
        const double pivot = 2 * (left + right) - left * factor[i - 1];
        factor[i] = right / pivot;
        second[i] = (turn - left * second[i - 1]) / pivot;
    }
    for (int i = curve->count - 2; i > 0; i--)
        second[i] -= factor[i] * second[i + 1];
}

static double height(const struct curve *curve, double at)
{
    const double *x = curve->x, *y = curve->y, *second = curve->second;
    int i = 1;
    while (i < curve->count && at > x[i])
        i++;
    if (at <= x[0] || i == curve->count)
        return y[at <= x[0] ? 0 : i - 1];
    const double width = x[i] - x[i - 1], a = x[i] - at, b = at - x[i - 1];
    return (second[i - 1] * a * (a * a - width * width) + second[i] * b * (b * b - width * width)) / (6 * width) +
           (y[i - 1] * a + y[i] * b) / width;
}

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    const int preset = (int)values->value[0];
    struct curve curve;
    double result[FILTER_LEVELS];
    *why = "the numbers of points must be 0 to 255, and each x at least 1 more than the one before";
    if (!(preset < 0 ? set_points(&curve, values->matrix, values->matrix_count)
                     : set_points(&curve, presets[preset].numbers, presets[preset].count)))
        return false;
    bend(&curve);
    for (int i = 0; i < FILTER_LEVELS; i++)
        result[i] = height(&curve, i);
    tables_fill(arguments, (int)values->value[1], result);
    return true;
}

extern const struct filter filter_curves;
const struct filter filter_curves = {
    .name = "curves",
    .summary = "change the tones by a curve through points",
    .example = "curves=0/0 64/44 192/215 255/255",
    .kind = FILTER_POINT,
    .table = true,
    .params = params,
    .prepare = prepare,
};
