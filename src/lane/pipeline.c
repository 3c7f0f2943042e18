// pipeline.c: the chain that makes the table of column sums of a frame, and the pictures of its stages
#include "lane/pipeline.h"

#include "base/alloc.h"
#include "base/log.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// Writes the chain to the end of a stage. The warp has the points that become the corners, in the picture without
// distortion.
static bool print_chain(const struct lane_pipeline *pipeline, enum lane_stage stage, char text[CHAIN_TEXT])
{
    const int right = lane_view.columns - 1, bottom = lane_view.rows - 1;
    const int corner[4][2] = {{0, 0}, {right, 0}, {right, bottom}, {0, bottom}};
    const struct lane_lens *lens = &pipeline->map.lens;
    const bool marks = pipeline->marks && stage >= LANE_RIDGE;
    int used = 0;
    if (marks) // without a matte, the picture is black
        used = snprintf(text, CHAIN_TEXT, "fill=white,keep,fill=black,matte=%s:behind:edge=plain,", pipeline->marks);
    if (lane_lens_bends(lens))
        used += snprintf(text + used, CHAIN_TEXT - (size_t)used, "undistort=%s,", lens->text);
    used += snprintf(text + used, CHAIN_TEXT - (size_t)used, "warp=");
    for (int i = 0; i < 4; i++) {
        double at[2];
        if (!lane_map_apply(pipeline->map.warp, corner[i][0], corner[i][1], at))
            return false;
        used += snprintf(text + used, CHAIN_TEXT - (size_t)used, "%s%.3f %.3f", i > 0 ? " " : "", at[0], at[1]);
    }
    used += snprintf(text + used, CHAIN_TEXT - (size_t)used, ":%d:%d", lane_view.columns, lane_view.rows);
    // A ridge is a little wider than a line; a program may draw wider ones. White marks without a ridge move the lines.
    if (stage >= LANE_RIDGE)
        snprintf(text + used, CHAIN_TEXT - (size_t)used, ",gray=paint,ridge=%d", marks ? 6 : 4);
    return true;
}

static bool make_chain(const struct lane_pipeline *pipeline, enum lane_stage stage, struct chain *chain)
{
    char text[CHAIN_TEXT], error[CHAIN_ERROR] = "";
    if (print_chain(pipeline, stage, text) && chain_parse(chain, text, error))
        return true;
    log_error("cannot find lanes: %s", error[0] ? error : lane_road_behind);
    return false;
}

bool lane_pipeline_chain(const struct lane_pipeline *pipeline, struct chain *chain)
{
    return make_chain(pipeline, LANE_RIDGE, chain);
}

void lane_pipeline_close(struct lane_pipeline *pipeline)
{
    for (int i = 0; i < LANE_STAGES; i++) {
        path_close(pipeline->shown[i]);
        pipeline->shown[i] = NULL;
    }
}

struct lane_table lane_pipeline_table(const struct lane_pipeline *pipeline, const uint32_t *sums)
{
    return (struct lane_table){.sums = sums,
                               .columns = lane_view.columns,
                               .full = (uint32_t)(255 * lane_view.rows / LANE_STRIPS),
                               .across = lane_view.across,
                               .near = lane_view.near,
                               .far = lane_view.far,
                               .settings = &pipeline->settings};
}

// Opens a path that runs the chain to the end of a stage.
static struct path *open_stage(const struct lane_pipeline *pipeline, struct path_setup setup, enum lane_stage stage)
{
    struct chain *chain = xalloc(sizeof(*chain)); // too large for the stack
    struct path *path = NULL;
    setup.chain = chain;
    setup.depth = 1;
    if (make_chain(pipeline, stage, chain))
        path = path_open(&setup, NULL);
    free(chain);
    return path;
}

const struct image *lane_pipeline_stage(struct lane_pipeline *pipeline, const struct image *frame,
                                        enum lane_stage stage)
{
    struct path **path = &pipeline->shown[stage];
    struct path_result *result = &pipeline->picture[stage];
    if (!*path && !(*path = open_stage(pipeline, pipeline->setup, stage)))
        return NULL;
    return path_submit(*path, frame, &pipeline->frame_time) && path_collect(*path, result) ? &result->image : NULL;
}

bool lane_pipeline_sums(const struct lane_pipeline *pipeline, const struct image *frame, uint32_t *sums)
{
    const struct path_setup setup = {.kind = PATH_CPU,
                                     .input = frame->shape,
                                     .measures = MEASURE_COLUMNS,
                                     .strips = LANE_STRIPS,
                                     .measured_only = true,
                                     .threads = pipeline->setup.threads};
    struct path *path = open_stage(pipeline, setup, LANE_RIDGE);
    struct path_result result;
    const bool ok = path && path_submit(path, frame, &pipeline->frame_time) && path_collect(path, &result);
    if (ok)
        memcpy(sums, result.measures.columns, LANE_STRIPS * (size_t)lane_view.columns * sizeof(*sums));
    path_close(path);
    return ok;
}
