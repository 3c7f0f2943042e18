// equalize_level.h: the tables of equalize, autolevels, clahe and grayworld on the host
#pragma once

#include "filter/filter.h"

// The arguments of clahe (kernels/clahe.cl).
enum { CLAHE_TILES_AT, CLAHE_CLIP_AT, CLAHE_COLUMNS_AT, CLAHE_ROWS_AT, CLAHE_TABLES_AT };

// The functions `measure` of the filters. They set the tables: the first arguments, or those from CLAHE_TABLES_AT on.
void equalize_measure(const uint32_t *histogram, int32_t *table);
void autolevels_measure(const uint32_t *histogram, int32_t *table); // the argument after the table is the cut
void clahe_measure(const uint32_t *counts, int32_t *numbers);
void grayworld_measure(const uint32_t *counts, int32_t *table);
