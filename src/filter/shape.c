// shape.c: the minimum and maximum of a square or a disc: erode, dilate, open and close
#include "filter/filter.h"

#include <math.h>
#include <string.h>

enum { SHAPE_RADIUS, SHAPE_SHAPE };

static const struct param params[] = {
    {"radius", PARAM_INT, .min = 1, .max = FILTER_REACH_MAX, .preset = 1, .step = 1,
     .help = "pixels on each side of the middle"},
    {"shape", PARAM_CHOICE, .max = 1, .step = 1, .choices = "box|disc", .help = "shape of the area"},
    {0},
};

// The arguments of kernels/erode.cl.
static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    const int radius = (int)values->value[SHAPE_RADIUS];
    arguments->radius = radius;
    arguments->count = 1;
    if (values->value[SHAPE_SHAPE] == 0)
        return true;
    arguments->whole = arguments->loops = true;
    arguments->value[0] = 2;
    for (int i = 0; i <= radius; i++)
        arguments->value[arguments->count++] = (int32_t)sqrt(radius * radius - i * i);
    return true;
}

extern const struct filter filter_erode, filter_dilate, filter_open, filter_close;
const struct filter filter_erode = {
    .name = "erode",
    .summary = "let dark areas grow",
    .example = "erode=2",
    .kind = FILTER_STENCIL,
    .params = params,
    .separable = true,
    .prepare = prepare,
};
const struct filter filter_dilate = {
    .name = "dilate",
    .summary = "let bright areas grow",
    .example = "dilate=2",
    .kind = FILTER_STENCIL,
    .params = params,
    .separable = true,
    .prepare = prepare,
};

static int pair(const struct filter *first, const struct filter *second, const struct filter_values *values,
                struct filter_step steps[FILTER_STEPS])
{
    for (int i = 0; i < 2; i++) {
        steps[i].filter = i == 0 ? first : second;
        memcpy(steps[i].value, values->value, sizeof(values->value));
    }
    return 2;
}

static int open_steps(const struct filter_values *values, struct filter_step steps[FILTER_STEPS])
{
    return pair(&filter_erode, &filter_dilate, values, steps);
}

static int close_steps(const struct filter_values *values, struct filter_step steps[FILTER_STEPS])
{
    return pair(&filter_dilate, &filter_erode, values, steps);
}

const struct filter filter_open = {
    .name = "open",
    .summary = "remove bright specks: erode, then dilate",
    .example = "open=3",
    .kind = FILTER_SEVERAL,
    .params = params,
    .steps = open_steps,
};
const struct filter filter_close = {
    .name = "close",
    .summary = "remove dark specks: dilate, then erode",
    .example = "close=3:disc",
    .kind = FILTER_SEVERAL,
    .params = params,
    .steps = close_steps,
};
