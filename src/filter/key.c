// key.c: earlier filters only where the kept picture has a colour, or has it not
#include "filter/chain.h"

#include <math.h>

enum { KEY_COLOR, KEY_SIMILARITY, KEY_BLEND, KEY_BY, KEY_SPILL, KEY_WHERE, KEY_FILTERS };
enum { BY_HUE, BY_CHROMA, BY_LUMA };
enum {
    ARGUMENT_OUT,
    ARGUMENT_BY,
    ARGUMENT_COLOR,
    ARGUMENT_ALONG = ARGUMENT_COLOR + 3,
    ARGUMENT_ACROSS = ARGUMENT_ALONG + 3,
    ARGUMENT_END = ARGUMENT_ACROSS + 3,
    ARGUMENT_SLOPE,
    ARGUMENT_FACTOR,
    ARGUMENT_SPILL,
    ARGUMENT_BRIGHTNESS = ARGUMENT_SPILL + 3,
    BRIGHTNESSES = FILTER_LEVELS / 4,
    ARGUMENTS = ARGUMENT_BRIGHTNESS + BRIGHTNESSES
};

static const struct param params[] = {
    {"color", PARAM_COLOR, .max = COLOR_MAX, .preset = 0x008000, .step = COLOR_STEP,
     .help = "the colour; by=hue uses only its hue"},
    {"similarity", PARAM_REAL, .max = 1, .preset = 0.25f, .step = 0.01f,
     .help = "colours up to this distance from `color` belong to the mask"},
    {"blend", PARAM_REAL, .max = 1, .preset = 0.1f, .step = 0.01f,
     .help = "colours up to this distance beyond `similarity` belong partly to the mask"},
    {"by", PARAM_CHOICE, .max = 2, .step = 1, .choices = "hue|chroma|luma",
     .help = "hue: shadows change it little, and greys have the distance 0.4; chroma, luma: as in colorkey"},
    {"spill", PARAM_REAL, .max = 1, .preset = 1, .step = 0.1f,
     .help = "share of the light of `color` that is removed from the rest, such as a person before a green screen"},
    {"where", PARAM_CHOICE, .max = 1, .step = 1, .choices = "in|out",
     .help = "in: the filters apply where the picture has the colour; out: elsewhere, without `spill`"},
    MASK_FILTERS,
    {0},
};

static int32_t rounded(double value)
{
    return (int32_t)floor(value + 0.5);
}

// Sets the arguments of the hue: two axes of a plane without brightness, the first one in the direction of the colour.
// Returns false for a grey colour.
static bool set_hue(const struct filter_values *values, int32_t *to)
{
    static const double red_cyan[] = {1, -0.5, -0.5}, green_blue[] = {0, 1, -1};
    const double side = sqrt(3) / 2;
    const int32_t *color = to + ARGUMENT_COLOR;
    const double x = (2 * color[0] - color[1] - color[2]) / 2.0, y = side * (color[1] - color[2]);
    const double length = sqrt(x * x + y * y);
    const int lowest = (int)fmin(color[0], fmin(color[1], color[2]));
    if (length == 0)
        return false;
    for (int i = 0; i < 3; i++) {
        const double u = red_cyan[i], v = side * green_blue[i];
        to[ARGUMENT_ALONG + i] = rounded(256 * (x * u + y * v) / length);
        to[ARGUMENT_ACROSS + i] = rounded(256 * (x * v - y * u) / (2 * side * length));
        if (values->value[KEY_WHERE] == 0)
            to[ARGUMENT_SPILL + i] = rounded(256 * (double)values->value[KEY_SPILL] * (color[i] - lowest) / length);
    }
    return true;
}

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    enum { DARK = 32 }; // added to the brightness, because dark pixels have noise
    const double similarity = values->value[KEY_SIMILARITY];
    const double blend = fmax(values->value[KEY_BLEND], 1 / 255.0);
    int32_t *to = arguments->value;
    arguments->spans = (int)values->value[KEY_FILTERS];
    arguments->count = ARGUMENTS;
    to[ARGUMENT_OUT] = values->value[KEY_WHERE] != 0;
    to[ARGUMENT_BY] = (int32_t)values->value[KEY_BY];
    filter_split_color(values->value[KEY_COLOR], to + ARGUMENT_COLOR);
    to[ARGUMENT_END] = rounded(4080 * (similarity + blend));
    to[ARGUMENT_SLOPE] = rounded(4080 * blend);
    to[ARGUMENT_FACTOR] = rounded(255 * 65536.0 / to[ARGUMENT_SLOPE]);
    for (int i = 0; i < BRIGHTNESSES; i++)
        to[ARGUMENT_BRIGHTNESS + i] = rounded(255 * 65536.0 / (4 * i + 2 + DARK));
    *why = "black, white and greys have no hue; choose by=luma";
    return set_hue(values, to) || to[ARGUMENT_BY] != BY_HUE;
}

extern const struct filter filter_key;
const struct filter filter_key = {
    .name = "key",
    .summary = "apply the filters before it only where the picture has a colour, such as a green screen",
    .example = "fill=aqua,key=#90b850",
    .kind = FILTER_POINT,
    .second = SECOND_KEPT,
    .params = params,
    .prepare = prepare,
};
