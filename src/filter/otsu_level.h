// otsu_level.h: the level of Otsu's method on the host
#pragma once

#include "filter/filter.h"

// The `measure` of the filter `otsu`: sets numbers[0].
void otsu_level(const uint32_t *histogram, int32_t *numbers);
