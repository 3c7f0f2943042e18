// otsu.c: black and white by luma, at the level that separates dark and bright pixels best
#include "filter/filter.h"
#include "filter/filter_kernels.h"

enum { MIDDLE = 128 };

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->count = 1;
    arguments->value[0] = MIDDLE; // until a picture has been measured
    return true;
}

// The level of Otsu's method on the host (docs/pixels.md section 3): sets numbers[0].
static void otsu_level(const uint32_t histogram[FILTER_LEVELS], int32_t *numbers)
{
    wide count0 = 0, sum0 = 0, count1 = 0, sum1 = 0;
    for (int i = 0; i < FILTER_LEVELS; i++) {
        count1 += histogram[i];
        sum1 += (wide)i * histogram[i];
    }
    struct otsu_split best = otsu_split_of(0, 0, 0, count1, sum1);
    for (int i = 0; i < FILTER_LEVELS; i++) {
        if (histogram[i] == 0)
            continue; // the same classes as before
        count0 += histogram[i];
        sum0 += (wide)i * histogram[i];
        count1 -= histogram[i];
        sum1 -= (wide)i * histogram[i];
        const struct otsu_split split = otsu_split_of(i, count0, sum0, count1, sum1);
        best = otsu_better(split, best) ? split : best;
    }
    numbers[0] = best.level + 1;
}

extern const struct filter filter_otsu;
const struct filter filter_otsu = {
    .name = "otsu",
    .summary = "black and white: split at the level of Otsu's method",
    .example = "otsu",
    .kind = FILTER_POINT,
    .color = FILTER_MAKES_GREY,
    .prepare = prepare,
    .measure = otsu_level,
};
