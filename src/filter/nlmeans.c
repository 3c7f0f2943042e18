// nlmeans.c: non-local means: removes noise by similar places nearby
//
// A. Buades, B. Coll, J.-M. Morel, "A non-local algorithm for image denoising" (CVPR 2005). The parameters are those of
// FFmpeg's filter of this name.
#include "filter/filter.h"

#include <math.h>

enum { NLMEANS_STRENGTH, NLMEANS_PATCH, NLMEANS_RESEARCH };
enum { ONE = 255, WEIGHTS_AT = 2 };

static const struct param params[] = {
    {"strength", PARAM_REAL, .min = 0.1f, .max = 30, .preset = 3, .step = 0.5f, .help = "strength of the smoothing"},
    {"patch", PARAM_INT, .min = 1, .max = 7, .preset = 3, .step = 2,
     .help = "side of the compared squares; an even number becomes the next odd one"},
    {"research", PARAM_INT, .min = 3, .max = 15, .preset = 9, .step = 2,
     .help = "side of the searched area; an even number becomes the next odd one"},
    {0},
};

// The weight of a difference d of two squares is exp(-d / h^2). Differences of equal d >> shift have one weight; those
// from 255 << shift on, which is at least 7 h^2, have none.
static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    const double h = 10.0 * values->value[NLMEANS_STRENGTH];
    const int patch = (int)values->value[NLMEANS_PATCH] / 2, reach = (int)values->value[NLMEANS_RESEARCH] / 2;
    int shift = 0;
    while (ldexp(FILTER_LEVELS - 1, shift) < 7 * h * h)
        shift++;
    arguments->value[0] = patch;
    arguments->value[1] = shift;
    for (int i = 0; i < FILTER_LEVELS - 1; i++)
        arguments->value[WEIGHTS_AT + i] = (int32_t)floor(ONE * exp(-(ldexp(i + 0.5, shift) - 0.5) / (h * h)) + 0.5);
    arguments->count = WEIGHTS_AT + FILTER_LEVELS;
    arguments->radius = patch + reach;
    arguments->loops = true;
    return true;
}

extern const struct filter filter_nlmeans;
const struct filter filter_nlmeans = {
    .name = "nlmeans",
    .summary = "remove noise, keep details, by similar places nearby",
    .example = "nlmeans=5",
    .kind = FILTER_STENCIL,
    .params = params,
    .prepare = prepare,
};
