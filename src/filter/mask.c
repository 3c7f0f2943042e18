// mask.c: transparency from a picture
#include "filter/chain.h"
#include "filter/picture.h"

enum { MASK_FILE, MASK_KEEP, MASK_FIT };
enum { ARGUMENT_WIDTH, ARGUMENT_FACTORS };

static const struct param params[] = {
    {"file", PARAM_FILE, .max = 1, .step = 1, .help = "image file that is the mask; without it, nothing changes"},
    {"keep", PARAM_CHOICE, .max = 1, .step = 1, .choices = "white|black",
     .help = "the image stays where the file is white, or black; transparent parts of the file count as black"},
    {"fit", PARAM_CHOICE, .max = 1, .step = 1, .choices = "cover|tile",
     .help = "cover: scaled and cut to the image; tile: repeated from the top left"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->count = ARGUMENT_FACTORS;
    return values->value[MASK_FILE] == 0 || picture_check(values->file, why);
}

static void fit(const struct filter_values *values, const struct stage_size *size, struct filter_arguments *arguments)
{
    arguments->value[ARGUMENT_WIDTH] = size->width;
    arguments->count = ARGUMENT_FACTORS + size->width * size->height;
}

// Returns the factor of alpha for a pixel of the file.
static int32_t factor_of(int32_t word, bool black)
{
    const int32_t red = word & 255, green = word >> 8 & 255, blue = word >> 16 & 255, alpha = word >> 24 & 255;
    const int32_t white = (((77 * red + 150 * green + 29 * blue + 128) >> 8) * alpha + 127) / 255;
    return black ? 255 - white : white;
}

static bool fill(const struct stage *stage, const struct stage_size *size, int32_t *numbers, char why[FILTER_WHY])
{
    const float *value = stage->values.value;
    const bool has_file = value[MASK_FILE] != 0, black = value[MASK_KEEP] != 0;
    int32_t *factors = numbers + ARGUMENT_FACTORS;
    if (has_file && !(value[MASK_FIT] == 0 ? picture_cover : picture_tile)(stage->values.file, size->width,
                                                                           size->height, factors, why))
        return false;
    for (size_t i = 0; i < (size_t)size->width * (size_t)size->height; i++)
        factors[i] = has_file ? factor_of(factors[i], black) : 255;
    return true;
}

extern const struct filter filter_mask;
const struct filter filter_mask = {
    .name = "mask",
    .summary = "make parts transparent with a mask from an image file, in outputs with transparency (PNG, WebP, TIFF)",
    .example = "mask",
    .usage = "mask=matte.jpg",
    .kind = FILTER_POINT,
    .params = params,
    .alpha = true,
    .placed = true,
    .prepare = prepare,
    .fit = fit,
    .fill = fill,
};
