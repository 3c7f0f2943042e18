// gray.c: colour to grey, by luma or by the plain average
#include "filter/filter.h"
#include "filter/row_maps.h"
#include "filter/rows.h"

enum { MODE_LUMA, MODE_AVERAGE };

static const struct param params[] = {
    {"mode", PARAM_CHOICE, .max = 1, .step = 1, .choices = "luma|average",
     .help = "grey value: Rec. 601 luma, or the average of the three channels"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->value[0] = (int32_t)values->value[0];
    arguments->count = 1;
    return true;
}

VECTOR_CLONES static void luma_row(const pixel_word *from, pixel_word *to, int first, int width)
{
    VECTOR_LOOP
    for (int x = first; x < width; x++)
        to[x] = (from[x] & 0xff000000u) | row_luma(from[x]) * 0x010101u;
}

ROW_MAP(luma_vector, {
    const vector luma = row_shuffle(row_luma_256(pixels), 1, 1, 1, 1, 5, 5, 5, 5, 9, 9, 9, 9, 13, 13, 13, 13);
    return row_colours(luma, pixels);
})

VECTOR_CLONES static void average_row(const pixel_word *from, pixel_word *to, int width)
{
    VECTOR_LOOP
    for (int x = 0; x < width; x++) {
        const uint32_t w = from[x], sum = (w & 255) + (w >> 8 & 255) + (w >> 16 & 255) + 1;
        to[x] = (w & 0xff000000u) | (sum * 21846u >> 16) * 0x010101u;
    }
}

static void point_row(const struct filter_arguments *arguments, const uint8_t *from, uint8_t *to, int width, bool past)
{
    const pixel_word *pixels = (const pixel_word *)from;
    pixel_word *result = (pixel_word *)to;
    if (arguments->value[0] == MODE_AVERAGE)
        average_row(pixels, result, width);
    else
        luma_row(pixels, result, luma_vector(NULL, from, to, width, past), width);
}

extern const struct filter filter_gray;
const struct filter filter_gray = {
    .name = "gray",
    .summary = "convert colours to grey",
    .example = "gray=average",
    .kind = FILTER_POINT,
    .color = FILTER_MAKES_GREY,
    .params = params,
    .prepare = prepare,
    .point_row = point_row,
};
