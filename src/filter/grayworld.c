// grayworld.c: automatic white balance: the mean colour becomes grey
#include "filter/histogram.h"
#include "filter/tables.h"

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    tables_start(arguments);
    return true;
}

extern const struct filter filter_grayworld;
const struct filter filter_grayworld = {
    .name = "grayworld",
    .summary = "automatic white balance: make the mean colour grey",
    .example = "temperature=3500,grayworld",
    .kind = FILTER_POINT,
    .color = FILTER_KEEPS_GREY,
    .table = true,
    .prepare = prepare,
    .measured = &(const struct filter_measured){.measure = grayworld_measure, .colors = true},
};
