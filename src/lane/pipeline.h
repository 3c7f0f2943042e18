// pipeline.h: the chain that makes the table of column sums of a frame: bird's-eye picture of the frame, or of the
// marks that a program of a matte finds; grey, ridge. The caller's path runs it, and returns only the sums. One thread
// at a time.
#pragma once

#include "lane/finder.h"
#include "lane/lane_camera.h"
#include "path/path.h"

#include <stdbool.h>

enum lane_stage { LANE_BIRD, LANE_RIDGE, LANE_STAGES };

struct lane_pipeline {
    struct lane_camera camera;
    struct lane_map map; // of the camera
    unsigned changes;    // of the map
    struct lane_settings settings;
    const char *marks;               // program of a matte whose white parts are marks; NULL: none
    struct frame_time frame_time;    // of the frame of lane_pipeline_sums and lane_pipeline_stage
    struct path_setup setup;         // of `shown`: kind, device, GL context, input and threads
    struct path *shown[LANE_STAGES]; // the chain to the end of each stage; NULL: not opened
    struct path_result picture[LANE_STAGES];
};

// Closes the paths of the stages. Accepts a zeroed one.
void lane_pipeline_close(struct lane_pipeline *pipeline);
// Makes the chain. Returns false on failure (logged).
bool lane_pipeline_chain(const struct lane_pipeline *pipeline, struct chain *chain);
// Makes the table of the chain's column sums, which borrows the sums and the settings.
struct lane_table lane_pipeline_table(const struct lane_pipeline *pipeline, const uint32_t *sums);

// Makes the column sums of one frame with the cpu path, which has the bytes of every path: LANE_STRIPS rows of
// lane_view.columns. Returns false on failure (logged).
bool lane_pipeline_sums(const struct lane_pipeline *pipeline, const struct image *frame, uint32_t *sums);

// Runs the chain to the end of a stage, for the window. Returns its picture, RGBA of lane_view's size, which is valid
// until the next call for this stage. NULL on failure (logged).
const struct image *lane_pipeline_stage(struct lane_pipeline *pipeline, const struct image *frame,
                                        enum lane_stage stage);

// ---- the aim: estimates the camera's pitch and yaw from the lane lines ----

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
