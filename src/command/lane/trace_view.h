// trace_view.h: draws the search for the lines over a picture of the bird's-eye view
#pragma once

#include "lane/finder.h"
#include "screen/sketch.h"

// Draws the column sums of the near strips as a curve, and its peaks: a mark, the offset in metres, and the direction
// in which the strips were moved. The picture has lane_view's size.
void trace_draw_sums(const struct sketch *sketch, const struct lane_trace *trace);
// Draws the band that the first fit searched.
void trace_draw_band(const struct sketch *sketch, const struct lane_trace *trace);
// Draws a box for each window of the last fit, and a point where the window shows its line.
void trace_draw_windows(const struct sketch *sketch, const struct lane_trace *trace);
