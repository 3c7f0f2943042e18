// filter.c: the list of filters; the row of a filter is in its own file
#include "filter/filter.h"

#include "filter/filter_list.h"
#include "filter/user_filter.h"

#include <string.h>
#include <strings.h>

#define DECLARE(name) extern const struct filter filter_##name;
#define ADDRESS(name) &filter_##name,
// Filters without a kernel of their own.
#define OTHERS(X)                                                                                                      \
    X(keep) X(open) X(close) X(canny) X(mirror) X(flip) X(crop) X(scale) X(rotate) X(warp) X(undistort) X(pixelate)
DECLARE(none)
FILTER_LIST(DECLARE)
OTHERS(DECLARE)

const struct filter *const filters[] = {ADDRESS(none) FILTER_LIST(ADDRESS) OTHERS(ADDRESS) NULL};

const struct filter *filter_at(int index)
{
    const int own = sizeof(filters) / sizeof(*filters) - 1;
    return index < own ? filters[index] : user_filters_at(index - own);
}

static const struct {
    const char *name, *filters;
} groups[] = {
    {"tones and colours", "gray maxrgb invert gamma contrast levels curves exposure autolevels equalize clahe "
                          "saturation vibrance temperature "
                          "hue grayworld sepia lut posterize threshold otsu"},
    {"blur, sharpen, noise", "blur gaussian median bilateral nlmeans denoise sharpen unsharp grain deinterlace"},
    {"edges and shapes", "sobel prewitt scharr roberts laplacian canny ridge emboss convolve erode dilate open close"},
    {"size and place", "mirror flip crop scale rotate pad warp undistort remap pixelate"},
    {"pictures and texts", "overlay text blend colorkey mask fill vignette motion"},
    {"masks", "within inside key matte keep"},
};
static const char others[] = "your filters";

const char *filter_group(const struct filter *filter)
{
    const size_t length = strlen(filter->name);
    for (size_t i = 0; i < sizeof(groups) / sizeof(*groups); i++) {
        for (const char *at = groups[i].filters; (at = strstr(at, filter->name)); at += length) {
            if ((at == groups[i].filters || at[-1] == ' ') && (!at[length] || at[length] == ' '))
                return groups[i].name;
        }
    }
    return filter->user ? others : "";
}

const struct filter *filter_in_group(int index, const char **group)
{
    const struct filter *filter;
    for (size_t i = 0; i <= sizeof(groups) / sizeof(*groups); i++) {
        *group = i < sizeof(groups) / sizeof(*groups) ? groups[i].name : others;
        for (int k = 1; (filter = filter_at(k)); k++) {
            if (strcmp(filter_group(filter), *group) == 0 && index-- == 0)
                return filter;
        }
    }
    return NULL;
}

const struct filter *filter_find(const char *name)
{
    const struct filter *filter;
    for (int i = 0; (filter = filter_at(i)); i++) {
        if (strcasecmp(filter->name, name) == 0)
            return filter;
    }
    return NULL;
}

const char *filter_usage(const struct filter *filter)
{
    return filter->usage ? filter->usage : filter->example;
}

void filter_split_color(float color, int32_t rgb[3])
{
    rgb[0] = (int32_t)color >> 16;
    rgb[1] = (int32_t)color >> 8 & 255;
    rgb[2] = (int32_t)color & 255;
}

int filter_param_count(const struct filter *filter)
{
    int count = 0;
    while (filter->params && filter->params[count].name)
        count++;
    return count;
}

bool param_has_numbers(const struct param *param)
{
    return param->type == PARAM_MATRIX || param->type == PARAM_MAP || param->type == PARAM_POINTS;
}

bool filter_is_mask(const struct filter *filter)
{
    return filter->second == SECOND_KEPT;
}

bool filter_moves(const struct filter *filter)
{
    return filter->mirror || filter->flip || (filter->kind == FILTER_WARP && !filter->warp->returns);
}

int filter_follow_previous(const struct stage *stage, const struct stage_size *size,
                           const struct frame_time *frame_time, int32_t *arguments)
{
    arguments[0] = frame_time->previous;
    return 1;
}

bool filter_gets_previous(const struct filter *filter)
{
    return filter->second == SECOND_PREVIOUS || filter->second == SECOND_INPUT;
}

bool filter_has_second(const struct filter *filter)
{
    return filter->second != SECOND_NONE && filter->second != SECOND_PICTURE;
}

bool filter_is_placed(const struct filter *filter)
{
    return filter->placed || filter->user || filter->second != SECOND_NONE;
}

bool filter_returns(const struct filter *filter)
{
    return filter->kind == FILTER_WARP && filter->warp->returns;
}

bool filter_leaves_grey(const struct filter *filter, bool grey)
{
    const bool alike = filter->kind != FILTER_POINT && !filter->placed;
    return filter->color == FILTER_MAKES_GREY || (grey && (alike || filter->color == FILTER_KEEPS_GREY));
}

bool filter_file_varies(const struct filter_values *values)
{
    return strstr(values->file, "{stem}");
}

bool filter_file_wanted(const struct filter *filter, const struct filter_values *values)
{
    for (int i = 0; i < filter_param_count(filter); i++) {
        if (filter->params[i].type == PARAM_FILE && values->value[i] > 0)
            return true;
    }
    return false;
}
