// colorkey.c: a colour becomes transparent
#include "filter/filter.h"

#include <math.h>

enum { KEY_COLOR, KEY_SIMILARITY, KEY_BLEND, KEY_BY };
// The shares are those of alpha, for each distance from the colour.
enum { ARGUMENT_RED, ARGUMENT_GREEN, ARGUMENT_BLUE, ARGUMENT_BY, ARGUMENT_SHARES };

static const struct param params[] = {
    {"color", PARAM_COLOR, .max = COLOR_MAX, .preset = 0x00ff00, .step = COLOR_STEP,
     .help = "colour that becomes transparent"},
    {"similarity", PARAM_REAL, .max = 1, .preset = 0.3f, .step = 0.01f,
     .help = "colours up to this distance from `color` become transparent; 1: the distance from black to white"},
    {"blend", PARAM_REAL, .max = 1, .preset = 0.1f, .step = 0.01f,
     .help = "colours up to this distance beyond `similarity` become partly transparent"},
    {"by", PARAM_CHOICE, .max = 2, .step = 1, .choices = "color|chroma|luma",
     .help =
         "color: distance in red, green and blue; chroma: only in chroma, which shadows on a green screen change less; "
         "luma: only in luma, for black or white around a picture"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    const double similarity = values->value[KEY_SIMILARITY], blend = values->value[KEY_BLEND];
    filter_split_color(values->value[KEY_COLOR], arguments->value + ARGUMENT_RED);
    arguments->value[ARGUMENT_BY] = (int32_t)values->value[KEY_BY];
    arguments->count = ARGUMENT_SHARES + FILTER_LEVELS;
    for (int i = 0; i < FILTER_LEVELS; i++) {
        const double more = i / 255.0 - similarity, share = blend > 0 ? fmin(fmax(more / blend, 0), 1) : more > 0;
        arguments->value[ARGUMENT_SHARES + i] = (int32_t)floor(255 * share + 0.5);
    }
    return true;
}

extern const struct filter filter_colorkey;
const struct filter filter_colorkey = {
    .name = "colorkey",
    .summary = "make a colour transparent, in outputs with transparency (PNG, WebP, TIFF)",
    .example = "colorkey=#90b850:0.1:0.05",
    .kind = FILTER_POINT,
    .color = FILTER_KEEPS_GREY,
    .params = params,
    .alpha = ALPHA_CHANGES,
    .prepare = prepare,
};
