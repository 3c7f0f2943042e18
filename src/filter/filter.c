// filter.c: the list of filters; each row stands in the filter's own file
#include "filter/filter.h"

#include <string.h>
#include <strings.h>

extern const struct filter filter_none, filter_gray, filter_maxrgb, filter_blur, filter_convolve, filter_emboss,
    filter_sobel, filter_sharpen, filter_median, filter_invert, filter_threshold, filter_gamma, filter_contrast,
    filter_sepia, filter_mirror, filter_flip;

const struct filter *const filters[] = {
    &filter_none,      &filter_gray,  &filter_maxrgb,   &filter_blur,   &filter_convolve,
    &filter_emboss,    &filter_sobel, &filter_sharpen,  &filter_median, &filter_invert,
    &filter_threshold, &filter_gamma, &filter_contrast, &filter_sepia,  &filter_mirror,
    &filter_flip,      NULL,
};

const struct filter *filter_find(const char *name)
{
    for (int i = 0; filters[i]; i++) {
        if (strcasecmp(filters[i]->name, name) == 0)
            return filters[i];
    }
    return NULL;
}

int filter_param_count(const struct filter *filter)
{
    int count = 0;
    while (filter->params && filter->params[count].name)
        count++;
    return count;
}

bool filter_leaves_grey(const struct filter *filter, bool grey)
{
    return filter->color == FILTER_MAKES_GREY || (grey && filter->color == FILTER_KEEPS_GREY);
}
