// aim.h: estimates the camera's pitch and yaw from the lane lines: at its pitch, they are parallel on the road
#pragma once

#include "lane/pipeline.h"
#include "lane/tracker.h"

enum { LANE_AIMS = 31 }; // pitches that a search tries, 1 degree apart

// Before the first frame, and after the user changed the calibration: all but `named` is zero.
struct lane_aim {
    const char *named;       // the option of the calibration, for a warning if it does not fit; NULL: none
    double given;            // the calibration's pitch
    double score[LANE_AIMS]; // of the searches, the recent ones more
    double pitch, yaw;       // degrees: means over frames with lines; before, of the camera
    int frames;              // that the means have
    int seen, blind;         // frames so far; frames in a row without two lines
};

// Before the lines of a frame are searched. Searches the pitch in the first frames, and after a second without lines.
// May replace the pipeline's camera; the tracker then begins anew. Never changes points, but warns once if they do not
// fit. Returns false on failure (logged).
bool lane_aim_search(struct lane_aim *aim, struct lane_pipeline *pipeline, const struct image *frame,
                     struct lane_tracker *tracker);
// After the lines of a frame were found. Follows their pitch and yaw slowly. May replace the pipeline's camera; the
// tracker then expects the same lines.
void lane_aim_follow(struct lane_aim *aim, struct lane_pipeline *pipeline, const struct image_shape *shape,
                     const struct lane_result *result, struct lane_tracker *tracker);
bool lane_aim_settled(const struct lane_aim *aim); // the means have 3 seconds of lines at 30 frames per second
