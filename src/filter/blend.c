// blend.c: a second picture, mixed with the image
#include "filter/chain.h"
#include "filter/picture.h"

#include <math.h>

enum { BLEND_FILE, BLEND_MODE, BLEND_OPACITY, BLEND_FIT };
enum { ARGUMENT_MODE, ARGUMENT_WIDTH, ARGUMENT_PIXELS };
enum { FIT_COVER, FIT_TILE };

static const struct param params[] = {
    {"file", PARAM_FILE, .max = 1, .step = 1, .help = "image file"},
    {"mode", PARAM_CHOICE, .max = 8, .step = 1,
     .choices = "normal|add|multiply|screen|overlay|difference|lighten|darken|subtract", .help = "how colours mix"},
    {"opacity", PARAM_REAL, .max = 1, .preset = 1, .step = 0.05f, .help = "0: invisible"},
    {"fit", PARAM_CHOICE, .max = FIT_TILE, .step = 1, .choices = "cover|tile",
     .help = "cover: scaled and cut to the image; tile: repeated from the top left"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->count = ARGUMENT_PIXELS;
    arguments->value[ARGUMENT_MODE] = (int32_t)values->value[BLEND_MODE];
    return true;
}

static void fit(const struct filter_values *values, const struct stage_size *size, struct filter_arguments *arguments)
{
    arguments->value[ARGUMENT_WIDTH] = size->width;
    arguments->count = ARGUMENT_PIXELS + size->width * size->height;
}

static bool fill(const struct stage *stage, const struct stage_size *size, int32_t *numbers, char why[FILTER_WHY])
{
    const float *value = stage->values.value;
    int32_t *pixels = numbers + ARGUMENT_PIXELS;
    if (!stage->values.resource)
        return true; // alpha is 0
    const bool ok = (value[BLEND_FIT] == FIT_COVER ? picture_cover : picture_tile)(stage->values.resource, size->width,
                                                                                   size->height, pixels, why);
    const int share = (int)floor(256 * (double)value[BLEND_OPACITY] + 0.5);
    uint8_t *alpha = (uint8_t *)pixels + 3;
    for (size_t i = 0; ok && i < (size_t)size->width * (size_t)size->height; i++)
        alpha[4 * i] = (uint8_t)((alpha[4 * i] * share + 128) >> 8);
    return ok;
}

extern const struct filter filter_blend;
const struct filter filter_blend = {
    .name = "blend",
    .summary = "blend a second picture with the image",
    .example = "blend",
    .usage = "blend=texture.png:screen:0.5",
    LAYS_PICTURE,
};
