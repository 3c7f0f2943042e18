// equalize_level.h: the tables of equalize and autolevels on the host
#pragma once

#include "filter/filter.h"

// The `measure` of the filters. They set the first FILTER_LEVELS numbers.
void equalize_measure(const uint32_t histogram[FILTER_LEVELS], int32_t *table);
void autolevels_measure(const uint32_t histogram[FILTER_LEVELS], int32_t *table); // the number behind them: the cut
