// lut.c: a look-up table of colours from a file
#include "filter/chain.h"
#include "filter/cube.h"

#include <stdio.h>
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
    if (values->value[0] == 0)
        return true;
    const struct file_resource *table = file_resource_get(values->file, cube_file);
    const bool ok = table && table->numbers;
    *why = table ? table->why : "out of memory";
    arguments->count = ok ? table->count : 0;
    file_resource_put(table);
    return ok;
}

static bool fill(const struct stage *stage, const struct stage_size *size, int32_t *numbers, char why[FILTER_WHY])
{
    if (stage->values.value[0] == 0)
        return true;
    const struct file_resource *table = file_resource_get(stage->values.file, cube_file);
    const bool ok = table && table->numbers && table->count == stage->arguments.count;
    if (ok)
        memcpy(numbers, table->numbers, sizeof(*numbers) * (size_t)table->count);
    snprintf(why, FILTER_WHY, "%s", table && table->why[0] ? table->why : "it has changed; try again");
    file_resource_put(table);
    return ok;
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
    .prepare = prepare,
    .fill = fill,
};
