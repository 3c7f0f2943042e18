// equalize.c: tones so that each is as frequent as the others, from the histogram
#include "filter/histogram.h"
#include "filter/tables.h"

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    tables_start(arguments);
    return true;
}

extern const struct filter filter_equalize;
const struct filter filter_equalize = {
    .name = "equalize",
    .summary = "equalize the histogram: use all tones equally",
    .example = "equalize",
    .kind = FILTER_POINT,
    .color = FILTER_KEEPS_GREY,
    .table = true,
    .prepare = prepare,
    .measured = &(const struct filter_measured){.measure = equalize_measure},
};
