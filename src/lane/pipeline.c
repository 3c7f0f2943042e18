// pipeline.c: makes the table of column sums of a frame
#include "lane/pipeline.h"

#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>

// Writes the chain to the end of a stage. The warp has the points that become the corners, in the picture without
// distortion.
static bool print_chain(const struct lane_pipeline *pipeline, enum lane_stage stage, char text[CHAIN_TEXT])
{
    const int right = lane_view.columns - 1, bottom = lane_view.rows - 1;
    const int corner[4][2] = {{0, 0}, {right, 0}, {right, bottom}, {0, bottom}};
    const struct lane_lens *lens = &pipeline->map.lens;
    int used = lane_lens_bends(lens) ? snprintf(text, CHAIN_TEXT, "undistort=%s,warp=", lens->text)
                                     : snprintf(text, CHAIN_TEXT, "warp=");
    for (int i = 0; i < 4; i++) {
        double at[2];
        if (!lane_map_apply(pipeline->map.warp, corner[i][0], corner[i][1], at))
            return false;
        used += snprintf(text + used, CHAIN_TEXT - (size_t)used, "%s%.3f %.3f", i > 0 ? " " : "", at[0], at[1]);
    }
    used += snprintf(text + used, CHAIN_TEXT - (size_t)used, ":%d:%d", lane_view.columns, lane_view.rows);
    // A ridge is as wide as a line. Noise becomes 0.
    if (stage >= LANE_RIDGE)
        used += snprintf(text + used, CHAIN_TEXT - (size_t)used, ",gray,ridge=3,contrast=1:brightness=%d",
                         -(int)pipeline->settings.noise);
    // The square root brings weak lines, which are far or in the shadow, nearer to strong ones: without it, the
    // threshold is between weak and strong lines.
    if (stage >= LANE_MASK)
        snprintf(text + used, CHAIN_TEXT - (size_t)used, ",gamma=2,otsu");
    return true;
}

// Opens a path that runs the chain to the end of a stage. `shown`: it returns the picture; otherwise the column sums.
static struct path *open_stage(const struct lane_pipeline *pipeline, enum lane_stage stage, bool shown)
{
    char text[CHAIN_TEXT], error[CHAIN_ERROR] = "";
    struct chain *chain = calloc(1, sizeof(*chain)); // too large for the stack
    struct path_setup setup = pipeline->setup;
    struct path *path = NULL;
    setup.chain = chain;
    setup.depth = shown ? 1 : setup.depth;
    setup.measures = shown ? 0 : MEASURE_COLUMNS;
    setup.strips = (int)pipeline->settings.windows;
    setup.measured_only = !shown;
    if (chain && print_chain(pipeline, stage, text) && chain_parse(chain, text, error))
        path = path_open(&setup, NULL);
    else
        log_error("cannot find lanes: %s", !chain ? "out of memory" : error[0] ? error : lane_road_behind);
    free(chain);
    return path;
}

bool lane_pipeline_init(struct lane_pipeline *pipeline, const struct lane_map *map,
                        const struct lane_settings *settings, const struct path_setup *setup)
{
    *pipeline = (struct lane_pipeline){.map = *map, .settings = *settings, .setup = *setup};
    pipeline->path = open_stage(pipeline, LANE_MASK, false);
    return pipeline->path != NULL;
}

void lane_pipeline_finish(struct lane_pipeline *pipeline)
{
    path_close(pipeline->path);
    for (int i = 0; i < LANE_STAGES; i++)
        path_close(pipeline->shown[i]);
    *pipeline = (struct lane_pipeline){0};
}

bool lane_pipeline_submit(struct lane_pipeline *pipeline, const struct image *frame, uint64_t tag)
{
    bool lost;
    return path_submit(pipeline->path, frame, tag, &lost);
}

bool lane_pipeline_collect(struct lane_pipeline *pipeline, struct lane_table *table, struct path_result *result)
{
    bool lost;
    if (!path_collect(pipeline->path, result, &lost))
        return false;
    *table = (struct lane_table){.sums = result->measures.columns,
                                 .strips = (int)pipeline->settings.windows,
                                 .columns = lane_view.columns,
                                 .full = (uint32_t)(255 * lane_view.rows / pipeline->settings.windows),
                                 .across = lane_view.across,
                                 .near = lane_view.near,
                                 .far = lane_view.far,
                                 .settings = &pipeline->settings};
    return true;
}

const struct image *lane_pipeline_stage(struct lane_pipeline *pipeline, const struct image *frame,
                                        enum lane_stage stage)
{
    struct path **path = &pipeline->shown[stage];
    struct path_result *result = &pipeline->picture[stage];
    bool lost;
    if (!*path && !(*path = open_stage(pipeline, stage, true)))
        return NULL;
    return path_submit(*path, frame, 0, &lost) && path_collect(*path, result, &lost) ? &result->image : NULL;
}
