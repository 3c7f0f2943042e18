// tables.h: the arguments of filters that look up each channel in a table of its own (kernels/common.cl: looked_up)
#pragma once

#include "filter/filter.h"

#define TABLES_CHANNELS "all|red|green|blue"

// Makes tables from the real results for each value of a channel, 0 to 255. `channel`: the index of a word of
// TABLES_CHANNELS; other channels stay.
void tables_fill(struct filter_arguments *arguments, int channel, const double result[FILTER_LEVELS]);
// Makes tables that change nothing, until the filter has measured a picture.
void tables_start(struct filter_arguments *arguments);
// Makes tables that multiply red, green and blue in linear light.
void tables_multiply(struct filter_arguments *arguments, const double factor[3]);
