// run.c: finds lanes in the frames of a source, and reports them
#include "base/clock.h"
#include "base/log.h"
#include "command/lane/lane.h"
#include "command/lane/lane_report.h"
#include "command/lane/lane_window.h"
#include "command/lane/pipeline.h"
#include "command/lane/tracker.h"
#include "command/shared.h"
#include "command/truth.h"

#include <stdio.h>
#include <string.h>

enum { WAIT_MS = 100, ENDLESS_FRAMES = 300, FILE_NAME = 320 };

struct run {
    const struct lane_options *options;
    struct lane_camera camera;
    struct source *source;
    const struct source_info *info;
    struct truth truth; // of --truth
    struct lane_pipeline pipeline;
    struct lane_tracker tracker;
    struct lane_window *window; // NULL: none
    bool quit;                  // by the user, or because the display is lost
    int frames, limit;          // limit 0: none
    int counts[3];              // frames of each lane_state
    double milliseconds;
};

static bool read_camera(struct run *run)
{
    const struct lane_options *o = run->options;
    char error[LANE_ERROR];
    run->camera = lane_camera_default();
    const char *what = "--config";
    bool ok = !o->config || lane_camera_read(&run->camera, o->config, error);
    if (ok && o->camera) {
        what = "--camera";
        ok = lane_camera_parse(&run->camera, o->camera, error);
    }
    if (ok && o->points) {
        what = "--points";
        ok = lane_camera_parse_points(&run->camera, o->points, error);
    }
    if (!ok)
        log_error("%s: %s", what, error);
    return ok;
}

// Returns an exit code.
static enum exit_code open_source(struct run *run, const char *text)
{
    const struct lane_options *o = run->options;
    struct source_setup setup = {
        .text = text, .width = o->size.width, .height = o->size.height, .rate = o->rate, .paced = !o->fast};
    if (!pixel_format_take(o->pixel_format, &setup))
        return EXIT_USAGE;
    run->source = source_open(&setup);
    if (!run->source)
        return EXIT_NOTHING;
    run->info = source_info(run->source);
    return EXIT_OK;
}

// Makes the map and the pipeline for the source's frame size.
static enum exit_code open_pipeline(struct run *run)
{
    const struct image_shape *shape = &run->info->shape;
    struct lane_map map;
    char error[LANE_ERROR];
    if (!lane_map_init(&map, &run->camera, shape->width, shape->height, error)) {
        log_error("the camera does not fit frames of %dx%d: %s", shape->width, shape->height, error);
        return EXIT_USAGE;
    }
    return lane_pipeline_init(&run->pipeline, &map, shape) ? EXIT_OK : EXIT_NOTHING;
}

// Without a display, the run is headless.
static void open_window(struct run *run)
{
    const struct lane_options *o = run->options;
    char why[256];
    if (!o->headless) {
        run->window = lane_window_open(run->info->shape.width, run->info->shape.height, why);
        if (!run->window)
            log_warn("cannot open a window: %s; running without it", why);
    }
    run->limit = o->frames > 0 ? o->frames : run->info->endless && !run->window ? ENDLESS_FRAMES : 0;
}

// Returns false if an output cannot be written.
static bool find_lanes(struct run *run, const struct frame *frame)
{
    struct lane_table table;
    struct lane_result result;
    char file[FILE_NAME];
    const int64_t start_ns = clock_now_ns();
    if (!lane_pipeline_run(&run->pipeline, &frame->image, &table))
        return false;
    lane_track(&run->tracker, &table, &result);
    const struct image_shape *shape = &frame->image.shape;
    const struct lane_frame about = {file, shape->width, shape->height, (double)(clock_now_ns() - start_ns) / 1e6};
    snprintf(file, sizeof(file), "%s#%llu", run->info->name, (unsigned long long)frame->number);
    run->frames++;
    run->counts[result.state]++;
    run->milliseconds += about.milliseconds;
    if (!truth_add(&run->truth, frame->number) ||
        (run->options->json && !lane_report(&about, &run->pipeline.map, &result)))
        return false;
    run->quit = run->window && !lane_window_show(run->window, &run->pipeline, &frame->image, &result);
    return true;
}

// Returns an exit code.
static enum exit_code process(struct run *run)
{
    while (command_interrupted() == 0 && !run->quit && (run->limit == 0 || run->frames < run->limit)) {
        struct frame frame;
        switch (source_next(run->source, &frame, WAIT_MS)) {
        case SOURCE_TIMEOUT:
            continue;
        case SOURCE_END:
            return EXIT_OK;
        case SOURCE_RESHAPED:
            log_error("the source changed its frame size or format; start again");
            return EXIT_FAILED_SOME;
        case SOURCE_FAILED:
            return EXIT_FAILED_SOME;
        case SOURCE_FRAME:
            break;
        }
        const bool written = find_lanes(run, &frame);
        source_return(run->source, &frame);
        if (!written)
            return EXIT_FAILED_SOME; // main logs a broken standard output
    }
    return run->window && lane_window_lost(run->window) ? EXIT_DEVICE : EXIT_OK;
}

int lane_run(const struct lane_options *options, const char *source)
{
    struct run run = {.options = options};
    if (!read_camera(&run))
        return EXIT_USAGE;
    enum exit_code code = open_source(&run, source);
    if (code == EXIT_OK)
        code = open_pipeline(&run);
    if (code == EXIT_OK && !truth_open(&run.truth, options->truth, run.info))
        code = EXIT_NOTHING;
    if (code == EXIT_OK) {
        open_window(&run);
        command_hold_signals();
        code = process(&run);
    }
    if (!truth_close(&run.truth))
        code = EXIT_FAILED_SOME;
    if (run.frames > 0 && !options->json)
        printf("%d frames: lanes in %d, held in %d, none in %d; %.2f ms per frame\n", run.frames, run.counts[LANE_SEEN],
               run.counts[LANE_HELD], run.counts[LANE_NONE], run.milliseconds / run.frames);
    lane_window_close(run.window);
    lane_pipeline_finish(&run.pipeline);
    source_close(run.source);
    return (int)code;
}
