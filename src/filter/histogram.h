// histogram.h: the parts of an input whose pixels are counted, and the tables and levels of filters on the host
#pragma once

#include "filter/filter.h"

// `tiles`: in each row and column; 0: the input is one part.
struct histogram_parts histogram_parts_of(bool colors, int tiles, int width, int height);
// Returns the pixel of a row or column of `count` pixels that stands for the one at `at`, which may lie beyond its end.
int histogram_mirrored(int at, int count);

// The arguments of clahe (kernels/clahe.cl).
enum { CLAHE_TILES_AT, CLAHE_CLIP_AT, CLAHE_COLUMNS_AT, CLAHE_ROWS_AT, CLAHE_TABLES_AT };

// The functions `measure` of the filters. They set the tables or the level: the first arguments, or those from
// CLAHE_TABLES_AT on.
void equalize_measure(const uint32_t *histogram, int32_t *table);
void autolevels_measure(const uint32_t *histogram, int32_t *table); // the argument after the table is the cut
void clahe_measure(const uint32_t *counts, int32_t *numbers);
void grayworld_measure(const uint32_t *counts, int32_t *table);
void otsu_measure(const uint32_t *histogram, int32_t *numbers);
