// pipeline.h: makes the table of column sums of a frame: bird's-eye picture, grey, ridge, Otsu's threshold, sums. One
// path does it all, and returns only the sums. One thread at a time.
#pragma once

#include "lane/finder.h"
#include "lane/lane_camera.h"
#include "path/path.h"

#include <stdbool.h>

enum lane_stage { LANE_BIRD, LANE_RIDGE, LANE_MASK, LANE_STAGES };

struct lane_pipeline {
    struct lane_map map;
    struct lane_settings settings;
    struct path_setup setup;         // of the paths, without the chain
    struct path *path;               // makes the table
    struct path *shown[LANE_STAGES]; // the chain to the end of each stage, with its picture; NULL: not opened
    struct path_result picture[LANE_STAGES];
};

// `setup` has the kind, device, GL context, input, threads and depth of the path. Returns false on failure (logged).
bool lane_pipeline_init(struct lane_pipeline *pipeline, const struct lane_map *map,
                        const struct lane_settings *settings, const struct path_setup *setup);
void lane_pipeline_finish(struct lane_pipeline *pipeline); // accepts a zeroed one

// Submits a frame as path_submit does. Returns false on failure (logged).
bool lane_pipeline_submit(struct lane_pipeline *pipeline, const struct image *frame, uint64_t tag);
// Collects the oldest frame as path_collect does. The table and the result are valid until the next call; the table
// borrows the settings. Returns false on failure (logged).
bool lane_pipeline_collect(struct lane_pipeline *pipeline, struct lane_table *table, struct path_result *result);

// Runs the chain to the end of a stage, for the window. Returns its picture, RGBA of lane_view's size, which is valid
// until the next call for this stage. NULL on failure (logged).
const struct image *lane_pipeline_stage(struct lane_pipeline *pipeline, const struct image *frame,
                                        enum lane_stage stage);
