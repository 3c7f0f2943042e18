// pad.c: a border around the image
#include "filter/chain.h"
#include "filter/warp.h"

#include <math.h>
#include <string.h>

enum { PAD_WIDTH, PAD_HEIGHT, PAD_X, PAD_Y, PAD_COLOR, PAD_RATIO };
enum {
    ARGUMENT_LEFT,
    ARGUMENT_TOP,
    ARGUMENT_RIGHT,
    ARGUMENT_BOTTOM,
    ARGUMENT_RED,
    ARGUMENT_GREEN,
    ARGUMENT_BLUE,
    ARGUMENTS
};

static const struct param params[] = {
    {"width", PARAM_INT, .max = CHAIN_SIDE_MAX, .step = 16,
     .help = "width of the result in pixels, at least the image's; 0: the image's"},
    {"height", PARAM_INT, .max = CHAIN_SIDE_MAX, .step = 16, .help = "height, likewise"},
    {"x", PARAM_INT, .min = -1, .max = CHAIN_SIDE_MAX, .preset = -1, .step = 16,
     .help = "columns left of the image; -1: the same as right of it"},
    {"y", PARAM_INT, .min = -1, .max = CHAIN_SIDE_MAX, .preset = -1, .step = 16,
     .help = "rows above the image; -1: the same as below"},
    {"color", PARAM_COLOR, .max = COLOR_MAX, .step = COLOR_STEP, .help = "colour of the border"},
    {"ratio", PARAM_REAL, .max = 100, .step = 0.05f,
     .help = "width divided by height of the result (1.7778: 16:9), instead of width and height; 0: use those"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->count = ARGUMENTS;
    filter_split_color(values->value[PAD_COLOR], arguments->value + ARGUMENT_RED);
    *why = "give either a size (width, height) or a ratio";
    return values->value[PAD_RATIO] == 0 || (values->value[PAD_WIDTH] == 0 && values->value[PAD_HEIGHT] == 0);
}

static int larger(double a, int b)
{
    return a > b ? (int)fmin(a, 1e9) : b;
}

static void map(const struct filter_values *values, int width, int height, struct filter_map *map)
{
    const double ratio = values->value[PAD_RATIO];
    map->width = larger(ratio > 0 ? floor(height * ratio + 0.5) : values->value[PAD_WIDTH], width);
    map->height = larger(ratio > 0 ? floor(width / ratio + 0.5) : values->value[PAD_HEIGHT], height);
    const double x = warp_first_pixel((int)values->value[PAD_X], width, map->width);
    const double y = warp_first_pixel((int)values->value[PAD_Y], height, map->height);
    memcpy(map->matrix, (double[]){1, 0, -x, 0, 1, -y, 0, 0, 1}, sizeof(map->matrix));
}

static void fit(const struct filter_values *values, const struct stage_size *size, struct filter_arguments *arguments)
{
    int32_t *to = arguments->value;
    to[ARGUMENT_LEFT] = warp_first_pixel((int)values->value[PAD_X], size->from_width, size->width);
    to[ARGUMENT_TOP] = warp_first_pixel((int)values->value[PAD_Y], size->from_height, size->height);
    to[ARGUMENT_RIGHT] = to[ARGUMENT_LEFT] + size->from_width;
    to[ARGUMENT_BOTTOM] = to[ARGUMENT_TOP] + size->from_height;
}

extern const struct filter filter_pad;
const struct filter filter_pad = {
    .name = "pad",
    .summary = "add a border",
    .example = "pad=352:272:color=white",
    .kind = FILTER_WARP,
    .params = params,
    .placed = true,
    .prepare = prepare,
    .warp = &(const struct filter_warping){.map = map},
    .fit = fit,
};
