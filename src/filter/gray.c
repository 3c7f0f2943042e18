// gray.c: colour to grey, by luma, the average, or the paint of roads
#include "filter/filter.h"

static const struct param params[] = {
    {"mode", PARAM_CHOICE, .max = 2, .step = 1, .choices = "luma|average|paint",
     .help = "grey value: Rec. 601 luma, the average of the three channels, or G + (R - B) / 2, in which yellow is as "
             "bright as white"},
    {0},
};

static bool prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why)
{
    arguments->value[0] = (int32_t)values->value[0];
    arguments->count = 1;
    return true;
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
};
