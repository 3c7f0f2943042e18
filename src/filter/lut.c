// lut.c: a look-up table of colours from a file
#include "filter/cube.h"
#include "filter/filter.h"

static const struct param params[] = {
    {"file", PARAM_FILE, .max = 1, .step = 1, .help = "a 1D or 3D table in the format .cube"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->count = 1 + FILTER_LEVELS;
    for (int i = 0; i < FILTER_LEVELS; i++)
        arguments->value[1 + i] = i * 0x010101;
    if (values->value[0] == 0)
        return true;
    const struct file_resource *table = file_resource(values->file, cube_read);
    *why = table ? table->why : "out of memory";
    if (!table || !table->numbers)
        return false;
    arguments->resource = table->numbers;
    arguments->count = table->count;
    return true;
}

extern const struct filter filter_lut;
const struct filter filter_lut = {
    .name = "lut",
    .summary = "change colours by a table from a .cube file",
    .example = "lut",
    .kind = FILTER_POINT,
    .color = FILTER_COLORS,
    .params = params,
    .prepare = prepare,
};
