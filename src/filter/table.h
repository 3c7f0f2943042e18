// table.h: filters that look each channel up in a 256-entry table
#pragma once

#include "filter/filter.h"

enum { TABLE_ENTRIES = 256 };

// The point_row of such a filter; arguments->value holds the table.
void table_point_row(const struct filter_arguments *arguments, const uint8_t *from, uint8_t *to, int width, bool past);
