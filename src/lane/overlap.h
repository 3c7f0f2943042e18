// overlap.h: compares lane lines by area, as CULane's evaluation does
#pragma once

#include "lane/lines.h"

// Draws each line 30 pixels wide in a picture of 1640x590 pixels. Two lines match if the area that they share is at
// least half of the area that they cover together. Returns the largest possible number of pairs of a truth line and a
// found line that match; each line is in at most one pair. Both frames have the same rows. `width` and `height` are the
// size of the picture that the points are in. -1: out of memory.
int overlap_matches(const struct lines_frame *truth, const struct lines_frame *found, int width, int height);
