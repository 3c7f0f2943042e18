// mask.c: transparency from a picture
#include "filter/chain.h"
#include "filter/picture.h"

enum { ARGUMENT_WIDTH, ARGUMENT_FACTORS };

static const struct param params[] = {
    {"file", PARAM_FILE, .max = 1, .step = 1, .help = "image file that is the mask; without it, nothing changes"},
    {"keep", PARAM_CHOICE, .max = 1, .step = 1, .choices = "white|black",
     .help = "the image stays where the file is white, or black; transparent parts of the file count as black"},
    {"fit", PARAM_CHOICE, .max = 1, .step = 1, .choices = "cover|tile", .help = "as in blend"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->count = ARGUMENT_FACTORS;
    return true;
}

static void fit(const struct filter_values *values, const struct stage_size *size, struct filter_arguments *arguments)
{
    arguments->value[ARGUMENT_WIDTH] = size->width;
    arguments->count = ARGUMENT_FACTORS + picture_mask_count(size->width, size->height);
}

static bool fill(const struct stage *stage, const struct stage_size *size, int32_t *numbers, char why[FILTER_WHY])
{
    return picture_mask(&stage->values, size->width, size->height, NULL, numbers + ARGUMENT_FACTORS, why);
}

extern const struct filter filter_mask;
const struct filter filter_mask = {
    .name = "mask",
    .summary = "make parts transparent with a mask from an image file, in outputs with transparency (PNG, WebP, TIFF)",
    .example = "mask",
    .usage = "mask=matte.jpg",
    .kind = FILTER_POINT,
    .color = FILTER_KEEPS_GREY,
    .params = params,
    .alpha = ALPHA_CHANGES,
    .placed = true,
    .reads = picture_file,
    .prepare = prepare,
    .fit = fit,
    .fill = fill,
};
