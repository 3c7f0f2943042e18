// road_draw.h: draws a synthetic road
#pragma once

#include "road/road.h"

struct road_painter;

// Prepares to draw pictures of this width. NULL: out of memory (not logged).
struct road_painter *road_painter_open(const struct road_spec *spec);
void road_painter_close(struct road_painter *painter);                 // accepts NULL
void road_painter_begin(struct road_painter *painter, uint64_t frame); // the next rows are of this frame
void road_painter_row(struct road_painter *painter, int y, uint8_t *rgba);
