// inside.c: earlier filters only in a region, a box or an ellipse
#include "filter/chain.h"

#include <math.h>

enum { INSIDE_SHAPE = INSIDE_HEIGHT + 1, INSIDE_WHERE, INSIDE_FILTERS = INSIDE_FEATHER + 1 };
enum {
    ARGUMENT_OUT,
    ARGUMENT_MIDDLE,
    ARGUMENT_REACH = ARGUMENT_MIDDLE + 2,
    ARGUMENT_SCALE = ARGUMENT_REACH + 2,
    ARGUMENT_SLOPE = ARGUMENT_SCALE + 2,
    ARGUMENT_FACTOR,
    ARGUMENTS
};
enum { PARTS = 16, PIXEL = 2 * PARTS }; // of a pixel; a pixel in the arguments, which are doubled

static const struct param params[] = {
    {"x", PARAM_REAL, .min = -100, .max = 100, .preset = 25, .step = 1,
     .help = "left side of the region, in % of the image's width"},
    {"y", PARAM_REAL, .min = -100, .max = 100, .preset = 25, .step = 1,
     .help = "top of the region, in % of the image's height"},
    {"width", PARAM_REAL, .min = 0.1f, .max = 200, .preset = 50, .step = 1,
     .help = "width of the region, in % of the image's width"},
    {"height", PARAM_REAL, .min = 0.1f, .max = 200, .preset = 50, .step = 1,
     .help = "height of the region, in % of the image's height"},
    {"shape", PARAM_CHOICE, .max = 1, .step = 1, .choices = "box|ellipse", .help = "shape of the region"},
    {"where", PARAM_CHOICE, .max = 1, .step = 1, .choices = "in|out",
     .help = "the filters apply inside the region, or outside it"},
    {"feather", PARAM_REAL, .max = 100, .step = 1,
     .help = "width of the soft border around the region, in % of the image's shorter side"},
    MASK_FILTERS,
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->spans = (int)values->value[INSIDE_FILTERS];
    arguments->value[ARGUMENT_OUT] = values->value[INSIDE_WHERE] != 0;
    arguments->count = ARGUMENTS;
    return true;
}

static int32_t rounded(double value)
{
    return (int32_t)floor(value + 0.5);
}

// Sets the arguments of the slope, whose length is this.
static void set_slope(int32_t *to, double length)
{
    to[ARGUMENT_SLOPE] = rounded(length);
    to[ARGUMENT_FACTOR] = rounded(255 * (double)(1 << 22) / to[ARGUMENT_SLOPE]);
}

static void fit(const struct filter_values *values, const struct stage_size *size, struct filter_arguments *arguments)
{
    const int side[2] = {size->width, size->height};
    const double shorter = fmin(size->width, size->height);
    const double feather = 2 * rounded(PARTS * shorter * (double)values->value[INSIDE_FEATHER] / 100);
    int32_t *to = arguments->value, sides[2];
    for (int i = 0; i < 2; i++) {
        const double begin = values->value[INSIDE_X + i], end = begin + values->value[INSIDE_WIDTH + i];
        const int32_t first = rounded(PARTS * (double)side[i] * begin / 100);
        const int32_t last = rounded(PARTS * (double)side[i] * end / 100);
        to[ARGUMENT_MIDDLE + i] = first + last;
        sides[i] = last - first;
        to[ARGUMENT_REACH + i] = sides[i] + (int32_t)feather + PIXEL / 2;
        to[ARGUMENT_SCALE + i] = 0;
    }
    set_slope(to, feather + PIXEL);
    if (values->value[INSIDE_SHAPE] == 0)
        return;
    const double side_px = fmax(1, fmin(sides[0], sides[1]));
    const double outer = 1 + (feather + PIXEL / 2) / side_px, inner = fmax(0, 1 - PIXEL / 2 / side_px) / outer;
    for (int i = 0; i < 2; i++) {
        const double reach = fmax(1, floor(sides[i] * outer + 0.5));
        to[ARGUMENT_REACH + i] = (int32_t)fmin(reach, 1 << 22); // no pixel is further away
        to[ARGUMENT_SCALE + i] = rounded((1 << 30) / reach);
    }
    set_slope(to, fmax(1, (1 << 20) * (1 - inner * inner)));
}

const struct filter filter_inside = {
    .name = "inside",
    .summary = "apply the filters before it only inside a region",
    .example = "pixelate,inside=40:15:45:70:ellipse",
    .kind = FILTER_POINT,
    .second = SECOND_KEPT,
    .params = params,
    .prepare = prepare,
    .fit = fit,
};
