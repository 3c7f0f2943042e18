// aim.h: estimates the camera's pitch and yaw from the lane lines: at its pitch, they are parallel on the road
#pragma once

#include "lane/pipeline.h"
#include "lane/tracker.h"

enum { LANE_AIMS = 31 }; // pitches that a search tries, 1 degree apart

// The lines of a frame at one pitch of a search.
struct lane_aim_trial {
    double score, pitch, heading, horizon; // row of the picture where lines that lead straight ahead meet
};

// Before the first frame, and after the user changed the calibration: all but `named` and `lane_width` is zero.
struct lane_aim {
    const char *named;       // the option of the calibration, for a warning if it does not fit; NULL: none
    double lane_width;       // metres: the user's; 0: 3 to 3.75
    double given;            // the calibration's pitch
    double score[LANE_AIMS]; // of the searches, the recent ones more
    struct lane_aim_trial tried[LANE_AIMS];
    int next;             // of the search under way; 0: none is
    int winner;           // of the last search
    bool turned;          // the search tries more headings, because no lines are seen
    bool confirmed;       // a search gave the pitch that is in use
    double pitch, yaw;    // degrees: means over frames with lines; before, of the camera
    double width;         // metres of the own lane: mean
    int frames, widths;   // that the means have
    int seen, blind;      // frames so far; frames in a row without two lines
    bool found, measured; // the pitch and the height are of lines; else they are assumed, or the user's
};

// Before the lines of a frame are searched. Searches the pitch in the first frame. Later frames try a few pitches each,
// until a search confirms the pitch, and after a second without lines. May replace the pipeline's camera; the tracker
// then begins anew. Never changes points. Returns false on failure (logged).
bool lane_aim_search(struct lane_aim *aim, struct lane_pipeline *pipeline, const struct image *frame,
                     struct lane_tracker *tracker);
// After the lines of a frame were found. Follows their pitch and yaw slowly, and the height that the lane's width
// gives. May replace the pipeline's camera; the tracker then expects the same lines.
void lane_aim_follow(struct lane_aim *aim, struct lane_pipeline *pipeline, const struct image_shape *shape,
                     const struct lane_result *result, struct lane_tracker *tracker);
// Adds the own lane's width to its mean, which gives the height after `frames` frames with nearly the same width. The
// height stays without the user's width of the lane if the user gave it, if the lane is too wide to be one, and in a
// single picture (`frames` 1), whose lane is too uncertain. Returns true if the pipeline's camera was replaced.
bool lane_aim_height(struct lane_aim *aim, struct lane_pipeline *pipeline, const struct image_shape *shape,
                     const struct lane_result *result, struct lane_tracker *tracker, int frames);
bool lane_aim_settled(const struct lane_aim *aim); // the means have 3 seconds of lines at 30 frames per second
