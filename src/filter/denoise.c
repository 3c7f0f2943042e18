// denoise.c: removes the noise of films: pixels that hardly change approach their new value slowly
#include "filter/filter.h"

#include <math.h>

enum { DENOISE_STRENGTH, DENOISE_THRESHOLD };
enum { DIFFERENCES = 64, ONE = 256 };

static const struct param params[] = {
    {"strength", PARAM_REAL, .max = 0.97f, .preset = 0.8f, .step = 0.05f,
     .help = "weight of the previous output where nothing moves"},
    {"threshold", PARAM_INT, .min = 1, .max = DIFFERENCES, .preset = 32, .step = 2,
     .help = "smallest difference of a moving pixel, which shows only the new frame"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    const double strength = values->value[DENOISE_STRENGTH], threshold = values->value[DENOISE_THRESHOLD];
    for (int d = 0; d <= DIFFERENCES; d++) {
        const double part = fmax(1 - d * d / (threshold * threshold), 0);
        arguments->value[1 + d] = ONE - (int32_t)floor(ONE * strength * part + 0.5);
    }
    arguments->count = 1 + DIFFERENCES + 1;
    return true;
}

extern const struct filter filter_denoise;
const struct filter filter_denoise = {
    .name = "denoise",
    .summary = "remove the noise of films where nothing moves",
    .example = "denoise=0.9",
    .kind = FILTER_POINT,
    .color = FILTER_KEEPS_GREY,
    .second = SECOND_PREVIOUS,
    .params = params,
    .prepare = prepare,
    .follow = filter_follow_previous,
};
