// gray.c: colour to grey, by luma or by the average
#include "filter/filter.h"

static const struct param params[] = {
    {"mode", PARAM_CHOICE, .max = 1, .step = 1, .choices = "luma|average",
     .help = "grey value: Rec. 601 luma, or the average of the three channels"},
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
