// pipeline.c: makes the table of column sums of a frame
#include "command/lane/pipeline.h"

#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// A ridge is as wide as a line. Noise becomes 0. The square root brings weak lines, which are far or in the shadow,
// nearer to strong ones: without it, the threshold is between weak and strong lines.
static const char *const steps[LANE_STAGES] = {"", ",gray,ridge=3,contrast=1:brightness=-5", ",gamma=2,otsu"};

// Writes the chain to the end of a stage. The warp has the points of the frame that become the corners.
static bool print_chain(const struct lane_pipeline *pipeline, enum lane_stage stage, char text[CHAIN_TEXT])
{
    const int right = lane_view.columns - 1, bottom = lane_view.rows - 1;
    const int corner[4][2] = {{0, 0}, {right, 0}, {right, bottom}, {0, bottom}};
    int used = snprintf(text, CHAIN_TEXT, "warp=");
    for (int i = 0; i < 4; i++) {
        double at[2];
        if (!lane_map_apply(pipeline->map.warp, corner[i][0], corner[i][1], at))
            return false;
        used += snprintf(text + used, CHAIN_TEXT - (size_t)used, "%s%.3f %.3f", i > 0 ? " " : "", at[0], at[1]);
    }
    used += snprintf(text + used, CHAIN_TEXT - (size_t)used, ":%d:%d", lane_view.columns, lane_view.rows);
    for (int i = 0; i <= (int)stage; i++)
        used += snprintf(text + used, CHAIN_TEXT - (size_t)used, "%s", steps[i]);
    return true;
}

static bool open_stage(struct lane_pipeline *pipeline, enum lane_stage stage)
{
    char text[CHAIN_TEXT], error[CHAIN_ERROR] = "the road is behind the camera";
    struct chain *chain = calloc(1, sizeof(*chain)); // too large for the stack
    const bool ok = chain && print_chain(pipeline, stage, text) && chain_parse(chain, text, error);
    if (ok) {
        const struct path_setup setup = {.kind = PATH_CPU, .input = pipeline->shape, .chain = chain, .depth = 1};
        pipeline->path[stage] = path_open(&setup, NULL);
    } else {
        log_error("cannot find lanes: %s", chain ? error : "out of memory");
    }
    free(chain);
    return pipeline->path[stage] != NULL;
}

bool lane_pipeline_init(struct lane_pipeline *pipeline, const struct lane_map *map, const struct image_shape *shape)
{
    *pipeline = (struct lane_pipeline){.map = *map, .shape = *shape};
    pipeline->sums = malloc(LANE_STRIPS * (size_t)lane_view.columns * sizeof(*pipeline->sums));
    if (!pipeline->sums)
        log_error("cannot find lanes: out of memory");
    return pipeline->sums && open_stage(pipeline, LANE_MASK);
}

void lane_pipeline_finish(struct lane_pipeline *pipeline)
{
    for (int i = 0; i < LANE_STAGES; i++)
        path_close(pipeline->path[i]);
    free(pipeline->sums);
}

const struct image *lane_pipeline_stage(struct lane_pipeline *pipeline, const struct image *frame,
                                        enum lane_stage stage)
{
    struct path **path = &pipeline->path[stage];
    bool lost;
    if ((!*path && !open_stage(pipeline, stage)) || !path_submit(*path, frame, 0, &lost) ||
        !path_collect(*path, &pipeline->result[stage], &lost))
        return NULL;
    return &pipeline->result[stage].image;
}

bool lane_pipeline_run(struct lane_pipeline *pipeline, const struct image *frame, struct lane_table *table)
{
    const int columns = lane_view.columns, rows = lane_view.rows;
    const struct image *mask = lane_pipeline_stage(pipeline, frame, LANE_MASK);
    if (!mask)
        return false;
    memset(pipeline->sums, 0, LANE_STRIPS * (size_t)columns * sizeof(*pipeline->sums));
    for (int row = 0; row < rows; row++) {
        const uint8_t *pixel = image_row(mask, 0, row);
        uint32_t *sums = pipeline->sums + row * LANE_STRIPS / rows * columns;
        for (int column = 0; column < columns; column++)
            sums[column] += pixel[4 * column];
    }
    *table = (struct lane_table){.sums = pipeline->sums,
                                 .strips = LANE_STRIPS,
                                 .columns = columns,
                                 .full = 255 * (uint32_t)rows / LANE_STRIPS,
                                 .across = lane_view.across,
                                 .near = lane_view.near,
                                 .far = lane_view.far};
    return true;
}
