// overlay.c: the filter `overlay`: a picture on the image
#include "filter/chain.h"
#include "filter/picture.h"

#include <math.h>
#include <stdlib.h>

enum { OVERLAY_FILE, OVERLAY_X, OVERLAY_Y, OVERLAY_OPACITY, OVERLAY_AT, OVERLAY_SCALE };
enum { ARGUMENT_X, ARGUMENT_Y, ARGUMENT_WIDTH, ARGUMENT_HEIGHT, ARGUMENT_PIXELS };

static const struct param params[] = {
    {"file", PARAM_FILE, .max = 1, .step = 1, .help = "image file; its transparent pixels stay transparent"},
    {"x", PARAM_INT, .min = -PLACE_MOST, .max = PLACE_MOST, .step = 8,
     .help = "pixels from the edge that `at` names, or right of the middle"},
    {"y", PARAM_INT, .min = -PLACE_MOST, .max = PLACE_MOST, .step = 8, .help = "likewise, or below the middle"},
    {"opacity", PARAM_REAL, .max = 1, .preset = 1, .step = 0.05f, .help = "0: invisible"},
    {"at", PARAM_CHOICE, .max = PLACE_LAST, .step = 1, .choices = PLACE_CHOICES, .help = "position of the picture"},
    {"scale", PARAM_REAL, .max = 1000, .step = 5,
     .help = "width of the picture in percent of the image's width; 0: the file's own size"},
    {0},
};

int place_column(int word, int x, int width, int all)
{
    const int across = word % 3;
    if (across == 0)
        return x;
    return across == 1 ? (int)floor((all - width) / 2.0) + x : all - width - x;
}

int place_row(int word, int y, int height, int all)
{
    return place_column(word / 3, y, height, all);
}

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->count = ARGUMENT_PIXELS;
    return true;
}

static int proportion(double count, double over, double under)
{
    return (int)fmin(fmax(floor(count * over / under + 0.5), 1), CHAIN_SIDE_MAX);
}

static void fit(const struct filter_values *values, const struct stage_size *size, struct filter_arguments *arguments)
{
    const float *value = values->value;
    int32_t *to = arguments->value, width = 0, height = 0;
    const struct file_resource *picture = values->resource;
    if (picture && picture->numbers) {
        width = value[OVERLAY_SCALE] > 0 ? proportion(size->width, value[OVERLAY_SCALE], 100) : picture->width;
        height = value[OVERLAY_SCALE] > 0 ? proportion(width, picture->height, picture->width) : picture->height;
    }
    to[ARGUMENT_X] = place_column((int)value[OVERLAY_AT], (int)value[OVERLAY_X], width, size->width);
    to[ARGUMENT_Y] = place_row((int)value[OVERLAY_AT], (int)value[OVERLAY_Y], height, size->height);
    to[ARGUMENT_WIDTH] = width;
    to[ARGUMENT_HEIGHT] = height;
    arguments->count = ARGUMENT_PIXELS + width * height;
}

// Multiplies the colours of pixels by their alpha.
static void premultiply(int32_t *pixels, int count)
{
    uint8_t *at = (uint8_t *)pixels;
    for (int i = 0; i < count; i++, at += 4) {
        for (int k = 0; k < 3; k++)
            at[k] = (uint8_t)((at[k] * at[3] + 127) / 255);
    }
}

static void fade(int32_t *pixels, int count, float opacity)
{
    const int share = (int)floor(256 * (double)opacity + 0.5);
    uint8_t *at = (uint8_t *)pixels;
    for (int i = 0; i < 4 * count; i++)
        at[i] = (uint8_t)((at[i] * share + 128) >> 8);
}

static bool fill(const struct stage *stage, const struct stage_size *size, int32_t *numbers, char why[FILTER_WHY])
{
    const int width = numbers[ARGUMENT_WIDTH], height = numbers[ARGUMENT_HEIGHT];
    if (width == 0)
        return true;
    struct file_resource own = {.numbers = NULL};
    bool ok = picture_copy_of(stage->values.resource, &own);
    if (ok) {
        premultiply(own.numbers, own.count);
        ok = picture_scale(&own, width, height, numbers + ARGUMENT_PIXELS);
        fade(numbers + ARGUMENT_PIXELS, width * height, stage->values.value[OVERLAY_OPACITY]);
    }
    free(own.numbers);
    return ok;
}

extern const struct filter filter_overlay;
const struct filter filter_overlay = {
    .name = "overlay",
    .summary = "put a picture on the image",
    .example = "overlay",
    .usage = "overlay=logo.png:at=bottom-right:scale=30",
    LAYS_PICTURE,
};
