// threshold.c: black and white by luma
#include "filter/filter.h"
#include "filter/row_maps.h"
#include "filter/rows.h"

static const struct param params[] = {
    {"level", PARAM_INT, .max = 255, .preset = 128, .step = 4, .help = "lowest luma of a white pixel"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->count = 1;
    arguments->value[0] = (int32_t)values->value[0];
    return true;
}

VECTOR_CLONES static void split(uint32_t level, const pixel_word *from, pixel_word *to, int first, int width)
{
    VECTOR_LOOP
    for (int x = first; x < width; x++) {
        const uint32_t w = from[x];
        to[x] = (w & 0xff000000u) | (row_luma(w) >= level ? 0xffffffu : 0);
    }
}

ROW_MAP(split_vector, {
    const signed_words luma = (signed_words)row_luma_256(pixels);
    return row_colours((vector)(luma > *(const int32_t *)numbers), pixels);
})

static void point_row(const struct filter_arguments *arguments, const uint8_t *from, uint8_t *to, int width, bool past)
{
    const int level = arguments->value[0];
    const int32_t below = (level << 8) - 1; // luma is in bits 8..15
    const int done = split_vector(&below, from, to, width, past);
    split((uint32_t)level, (const pixel_word *)from, (pixel_word *)to, done, width);
}

extern const struct filter filter_threshold;
const struct filter filter_threshold = {
    .name = "threshold",
    .summary = "black and white: split at a luma level",
    .example = "threshold=100",
    .kind = FILTER_POINT,
    .color = FILTER_MAKES_GREY,
    .params = params,
    .prepare = prepare,
    .point_row = point_row,
};
