// lut.c: a look-up table of colours from a file
#include "filter/chain.h"
#include "filter/cube.h"

#include <string.h>

static const struct param params[] = {
    {"file", PARAM_FILE, .max = 1, .step = 1, .help = "a 1D or 3D table in the format .cube, or a Hald picture"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->count = 1 + FILTER_LEVELS;
    for (int i = 0; i < FILTER_LEVELS; i++)
        arguments->value[1 + i] = i * 0x010101;
    return true;
}

static void fit(const struct filter_values *values, const struct stage_size *size, struct filter_arguments *arguments)
{
    if (values->resource && values->resource->numbers)
        arguments->count = values->resource->count;
}

static bool fill(const struct stage *stage, const struct stage_size *size, int32_t *numbers, char why[FILTER_WHY])
{
    const struct file_resource *table = stage->values.resource;
    if (table)
        memcpy(numbers, table->numbers, sizeof(*numbers) * (size_t)table->count);
    return true;
}

extern const struct filter filter_lut;
const struct filter filter_lut = {
    .name = "lut",
    .summary = "change colours by a table from a .cube file or a Hald picture",
    .example = "lut",
    .usage = "lut=film.cube",
    .kind = FILTER_POINT,
    .color = FILTER_COLORS,
    .params = params,
    .reads = cube_file,
    .prepare = prepare,
    .fit = fit,
    .fill = fill,
};
