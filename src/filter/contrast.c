// contrast.c: contrast around middle grey, and brightness
#include "filter/table.h"

#include "filter/rows.h"

#include <math.h>

static const struct param params[] = {
    {.name = "amount",
     .type = PARAM_REAL,
     .max = 10,
     .preset = 1.5f,
     .step = 0.1f,
     .help = "factor around middle grey; 1 changes nothing"},
    {.name = "brightness", .type = PARAM_REAL, .min = -255, .max = 255, .step = 4, .help = "added to each channel"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    const double amount = values->value[0], brightness = values->value[1];
    arguments->count = TABLE_ENTRIES;
    for (int i = 0; i < TABLE_ENTRIES; i++)
        arguments->value[i] = row_sat8((int)floor((i - 127.5) * amount + 127.5 + brightness + 0.5));
    return true;
}

extern const struct filter filter_contrast;
const struct filter filter_contrast = {
    .name = "contrast",
    .summary = "more or less contrast and brightness",
    .example = "contrast=1.3:brightness=10",
    .kind = FILTER_POINT,
    .params = params,
    .kernel = "table.cl",
    .prepare = prepare,
    .point_row = table_point_row,
};
