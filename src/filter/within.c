// within.c: earlier filters only where a mask is white
#include "filter/chain.h"
#include "filter/picture.h"

enum { WITHIN_GROW = MASK_FIT + 1, WITHIN_FEATHER, WITHIN_FILTERS };
enum { ARGUMENT_WIDTH, ARGUMENT_SHARES };

static const struct param params[] = {
    {"file", PARAM_FILE, .max = 1, .step = 1,
     .help = "image file that is the mask; without it, the filters apply everywhere"},
    {"where", PARAM_CHOICE, .max = 1, .step = 1, .choices = "white|black",
     .help = "the filters apply where the file is white, or black; transparent parts of the file count as black"},
    {"fit", PARAM_CHOICE, .max = 1, .step = 1, .choices = "cover|tile", .help = "as in blend"},
    {"grow", PARAM_REAL, .min = -25, .max = 25, .step = 0.5f,
     .help = "width by which the filtered parts grow, in % of the image's shorter side; below 0: they shrink"},
    {"feather", PARAM_REAL, .max = 100, .step = 0.5f,
     .help = "width of the soft border around the filtered parts, in % of the image's shorter side"},
    MASK_FILTERS,
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->spans = (int)values->value[WITHIN_FILTERS];
    arguments->count = ARGUMENT_SHARES + 1; // NVIDIA's compiler of GLSL refuses an index beyond the arguments
    return true;
}

static void fit(const struct filter_values *values, const struct stage_size *size, struct filter_arguments *arguments)
{
    arguments->value[ARGUMENT_WIDTH] = size->width;
    arguments->count = ARGUMENT_SHARES + picture_mask_count(size->width, size->height);
}

static bool fill(const struct stage *stage, const struct stage_size *size, int32_t *numbers, char why[FILTER_WHY])
{
    return picture_mask(&stage->values, size->width, size->height, &stage->values.value[WITHIN_GROW],
                        numbers + ARGUMENT_SHARES, why);
}

extern const struct filter filter_within;
const struct filter filter_within = {
    .name = "within",
    .summary = "apply the filters before it only where a mask from an image file is white",
    .example = "blur=8,within",
    .usage = "blur=8,within=matte.jpg",
    .kind = FILTER_POINT,
    .second = SECOND_KEPT,
    .params = params,
    .reads = picture_file,
    .prepare = prepare,
    .fit = fit,
    .fill = fill,
};
