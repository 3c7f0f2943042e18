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
