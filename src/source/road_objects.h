// road_objects.h: objects between the camera and a synthetic road: cars, rain, lights
#pragma once

#include "source/road.h"

enum { ROAD_RECTS = 384 };

// A slanted rectangle of one colour.
struct road_rect {
    int y0, y1;     // first row, and the row behind the last one
    float x0, x1;   // left and right edge in row y0
    float slant;    // how much both edges move from row to row
    float opacity;  // 0 to 1
    float color[3]; // 0 to 255
};

// Computes the rectangles of a frame, in the order in which they are drawn. Returns their number.
int road_rects(const struct road_scene *scene, int width, int height, struct road_rect rects[ROAD_RECTS]);
