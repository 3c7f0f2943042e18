// threshold.c: black and white by luma
#include "filter/filter.h"
#include "filter/rows.h"

static const struct param params[] = {
    {.name = "level",
     .type = PARAM_INT,
     .max = 255,
     .preset = 128,
     .step = 4,
     .help = "luma from which a pixel is white"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->count = 1;
    arguments->value[0] = (int32_t)values->value[0];
    return true;
}

VECTOR_CLONES static void point_row(const struct filter_arguments *arguments, const uint8_t *from, uint8_t *to,
                                    int width)
{
    const uint32_t level = (uint32_t)arguments->value[0];
    const pixel_word *pixel = (const pixel_word *)from;
    pixel_word *result = (pixel_word *)to;
    VECTOR_LOOP
    for (int x = 0; x < width; x++) {
        const uint32_t w = pixel[x];
        result[x] = (w & 0xff000000u) | (row_luma(w) >= level ? 0xffffffu : 0);
    }
}

extern const struct filter filter_threshold;
const struct filter filter_threshold = {
    .name = "threshold",
    .summary = "black and white, split at a level of luma",
    .example = "threshold=100",
    .kind = FILTER_POINT,
    .color = FILTER_MAKES_GREY,
    .params = params,
    .kernel = "threshold.cl",
    .prepare = prepare,
    .point_row = point_row,
};
