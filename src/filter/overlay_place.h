// overlay_place.h: where a smaller picture lies in the image
#pragma once

#define PLACE_CHOICES "top-left|top|top-right|left|center|right|bottom-left|bottom|bottom-right"
enum { PLACE_LAST = 8, PLACE_MOST = 32768 };

// Returns the first column of a picture, `width` of the `all` columns: `x` columns from the edge that a word of
// PLACE_CHOICES names, or right of the middle.
int place_column(int word, int x, int width, int all);
int place_row(int word, int y, int height, int all); // likewise, down
