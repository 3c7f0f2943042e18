// height.h: which lines are above the road, such as a guard rail: the texture along them moves faster than the road.
//
// A camera at the height H sees a point at the height h and the distance z where it sees the road at z * H / (H - h):
// the ray through both ends on the road (similar triangles). So while the car moves by d, this place moves by
// d * H / (H - h): the foot of a post by d, and a rail of 0.7 m below a camera of 1.4 m by 2 * d.
#pragma once

#include "lane/finder.h"

enum {
    HEIGHT_LAGS = 4,   // earlier frames that a frame is compared with
    HEIGHT_PARTS = 8,  // speeds are in parts of a strip per frame
    HEIGHT_SPEEDS = 33 // 0 to 4 strips per frame
};

// How the texture along a line moves from frame to frame. A zeroed one is new.
struct lane_motion {
    int frames;
    float mean[LANE_STRIPS_MAX];                  // brightness of each strip, without texture that moves
    float past[HEIGHT_LAGS + 1][LANE_STRIPS_MAX]; // differences from the mean, the latest frame first
    float match[LANE_STRIPS_MAX][HEIGHT_SPEEDS];  // correlation with the earlier frames at each speed
    float power[LANE_STRIPS_MAX];                 // the largest possible correlation
    int raised; // frames that showed a greater speed than the road's, minus the others
};

// Adds a frame, which shows the line at this offset.
void lane_motion_add(struct lane_motion *motion, const struct lane_table *table, const struct lane_shape *shape,
                     double offset);
// Returns true if the texture has one speed that is neither 0 nor beyond the largest one.
bool lane_motion_clear(const struct lane_motion *motion);
// Compares the speed with that of a clear line on the road, in the strips that both have.
void lane_motion_compare(struct lane_motion *motion, const struct lane_motion *road);
// Returns true if most of the last frames show the line above the road.
bool lane_motion_raised(const struct lane_motion *motion);
