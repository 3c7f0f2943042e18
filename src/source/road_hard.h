// road_hard.h: things that look like lane lines: seams, joints, arrows, crossings, kerbs, barriers, guard rails
#pragma once

#include "source/road.h"

// A point of the ground that a pixel shows.
struct road_point {
    double offset, way; // metres: from the middle of the own lane to the right; along the road
    double middle;      // metres from the camera to the middle of the own lane
    double left, right; // edges of the asphalt, as offsets
    float wide, length; // size of the pixel on the road, across and along
};

// Changes the colour of the point as the level demands. Other levels than the hard ones change nothing.
void road_hard(const struct road_scene *scene, const struct road_point *point, float rgb[3]);
