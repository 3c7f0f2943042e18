// pipeline.h: makes the table of column sums of a frame: bird's-eye picture, grey, ridge, Otsu's threshold, sums
#pragma once

#include "command/lane/camera.h"
#include "command/lane/finder.h"
#include "image/image.h"

#include <stdbool.h>

enum { LANE_STRIPS = 40 };
enum lane_stage { LANE_BIRD, LANE_RIDGE, LANE_MASK, LANE_STAGES };

struct lane_pipeline {
    struct lane_map map;
    struct image rgba;           // the frame
    uint8_t *stage[LANE_STAGES]; // grey pictures of lane_view's size
    uint32_t *sums;
};

// Returns false if there is no memory (logged).
bool lane_pipeline_init(struct lane_pipeline *pipeline, const struct lane_map *map, const struct image_shape *shape);
void lane_pipeline_finish(struct lane_pipeline *pipeline); // accepts a zeroed one
// Fills the table, which is valid until the next call.
void lane_pipeline_run(struct lane_pipeline *pipeline, const struct image *frame, struct lane_table *table);
