// lane_picture.h: lane lines in the coordinates of the camera's picture
#pragma once

#include "lane/finder.h"
#include "lane/lane_camera.h"

enum { LANE_SAMPLES = 56, LANE_ABSENT = -2 };

// Writes the rows of the picture at which lines are reported, as in TuSimple's data: 160 to 710 in steps of 10 for a
// height of 720, and in proportion for others.
void lane_samples(int height, int y[LANE_SAMPLES]);
// Writes the x of a line at each of these rows; LANE_ABSENT: the line is not in the picture there.
void lane_to_picture(const struct lane_map *map, const struct lane_shape *shape, double offset, int width, int rows,
                     const int y[], double x[]);
