// tracker.h: follows lane lines over frames: smooths them, rejects jumps, drops lines that stay out of sight
#pragma once

#include "lane/finder.h"

enum lane_state { LANE_NONE, LANE_SEEN, LANE_HELD }; // no line; seen in this frame; predicted from earlier frames

struct lane_track {
    struct lane_line line; // smoothed; its support is the latest
    double strength;       // how surely the line is there, 0 to 1
    double confidence;     // how well the line fits its marks, 0 to 1, smoothed: that which is reported
};

// The reported lines of a frame: at most two on each side of the camera, with a lane between them.
struct lane_result {
    enum lane_state state;
    struct lane_shape shape;
    double confidence;       // mean of the lines; 0: none
    int left, right;         // indices of the lines beside the camera; -1: none
    double line[LANE_LINES]; // confidence of each line
};

struct lane_tracker {
    struct lane_shape shape; // expected in the next frame
    bool known;              // `shape` is valid
    int rejected;            // frames in a row
    struct lane_track track[LANE_LINES];
    int tracks;
};

// Finds the lines of the next frame. A zeroed tracker is new. Fills `trace`; NULL: none.
void lane_track(struct lane_tracker *tracker, const struct lane_table *table, struct lane_result *result,
                struct lane_trace *trace);
