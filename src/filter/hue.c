// hue.c: rotation of the hue
#include "filter/filter.h"

#include <math.h>

enum { CHANNELS = 3, ONE = 1 << 12 };

static const struct param params[] = {
    {"angle", PARAM_REAL, .min = -180, .max = 180, .preset = 90, .step = 10,
     .help = "angle in degrees; 120 turns red to green"},
    {0},
};

// The matrix of hueRotate in Filter Effects Module Level 1 (W3C): constant weights, then the factors of the angle's
// cosine and sine. Each row's last weight follows from the others, so that grey stays grey.
static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    static const double fixed[] = {0.213, 0.715};
    static const double cosine[CHANNELS][2] = {{0.787, -0.715}, {-0.213, 0.285}, {-0.213, -0.715}};
    static const double sine[CHANNELS][2] = {{-0.213, -0.715}, {0.143, 0.140}, {-0.787, 0.715}};
    const double angle = values->value[0] * acos(-1) / 180;
    arguments->count = CHANNELS * CHANNELS;
    for (int row = 0; row < CHANNELS; row++) {
        int32_t *to = &arguments->value[CHANNELS * row];
        for (int i = 0; i < 2; i++)
            to[i] = (int32_t)floor(ONE * (fixed[i] + cos(angle) * cosine[row][i] + sin(angle) * sine[row][i]) + 0.5);
        to[2] = ONE - to[0] - to[1];
    }
    return true;
}

extern const struct filter filter_hue;
const struct filter filter_hue = {
    .name = "hue",
    .summary = "rotate the hue of all colours",
    .example = "hue=120",
    .kind = FILTER_POINT,
    .color = FILTER_KEEPS_GREY,
    .params = params,
    .prepare = prepare,
};
