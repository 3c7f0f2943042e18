// shape.h: the square or disc of erode, dilate, open and close
#pragma once

#include "filter/filter.h"

extern const struct param shape_params[];
bool shape_prepare(const struct filter_values *values, struct filter_arguments *arguments, const char **why);

extern const struct filter filter_erode, filter_dilate;
