// pipeline.h: makes the table of column sums of a frame: bird's-eye picture, grey, ridge, Otsu's threshold, sums. One
// thread at a time.
#pragma once

#include "command/lane/camera.h"
#include "command/lane/finder.h"
#include "path/path.h"

#include <stdbool.h>

enum { LANE_STRIPS = 40 };
enum lane_stage { LANE_BIRD, LANE_RIDGE, LANE_MASK, LANE_STAGES };

struct lane_pipeline {
    struct lane_map map;
    struct image_shape shape;       // of the frames
    struct path *path[LANE_STAGES]; // the chain to the end of each stage; NULL: not opened
    struct path_result result[LANE_STAGES];
    uint32_t *sums;
};

// Returns false on failure (logged).
bool lane_pipeline_init(struct lane_pipeline *pipeline, const struct lane_map *map, const struct image_shape *shape);
void lane_pipeline_finish(struct lane_pipeline *pipeline); // accepts a zeroed one
// Runs the chain to the end of a stage. Returns its picture, RGBA of lane_view's size, which is valid until the next
// call for this stage. NULL on failure (logged).
const struct image *lane_pipeline_stage(struct lane_pipeline *pipeline, const struct image *frame,
                                        enum lane_stage stage);
// Fills the table, which is valid until the next call. Returns false on failure (logged).
bool lane_pipeline_run(struct lane_pipeline *pipeline, const struct image *frame, struct lane_table *table);
