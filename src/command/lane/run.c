// run.c: finds lanes in the frames of a source, and reports them
#include "base/clock.h"
#include "base/edited.h"
#include "base/log.h"
#include "command/lane/lane.h"
#include "command/lane/lane_report.h"
#include "command/lane/lane_window.h"
#include "command/shared.h"
#include "lane/config.h"
#include "lane/pipeline.h"
#include "lane/place.h"
#include "lane/tracker.h"
#include "lane/truth.h"
#include "stream/meter.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { WAIT_MS = 100, ENDLESS_FRAMES = 300, FILE_NAME = 320, CONFIG_ERROR = LANE_ERROR + 64 };

struct run {
    struct lane_camera camera; // with --calibrate: where it begins
    const struct lane_options *options;
    int edits; // descriptor of edited.h for the configuration file; 0: none
    struct source *source;
    const struct source_info *info;
    struct truth truth; // of --truth
    struct lane_place place;
    struct lane_pipeline pipeline;
    struct lane_tracker tracker;
    struct lane_trace trace;             // of the latest frame, for the window
    struct lane_window *window;          // NULL: none
    struct frame flight[PATH_DEPTH_MAX]; // frames in flight, oldest first
    int flights, depth;
    bool quit;                    // by the user, or because the display is lost
    int submitted, frames, limit; // limit 0: none
    int counts[3];                // frames of each lane_state
    double milliseconds;
    struct meter meter;
};

// Returns false if a value is wrong; `error` then has one line.
static bool read_config(const struct lane_options *o, struct lane_config *config, char error[CONFIG_ERROR])
{
    char why[LANE_ERROR];
    *config = lane_config_default();
    const char *what = "--config";
    const bool none = !o->config || (o->calibrate && access(o->config, F_OK) != 0); // --calibrate makes the file
    bool ok = none || lane_config_read(config, o->config, why);
    if (ok && o->camera) {
        what = "--camera";
        ok = lane_camera_parse(&config->camera, o->camera, why);
    }
    if (ok && o->points) {
        what = "--points";
        ok = lane_camera_parse_points(&config->camera, o->points, why);
    }
    if (!ok)
        snprintf(error, CONFIG_ERROR, "%s: %s", what, why);
    return ok;
}

static bool make_map(const struct run *run, const struct lane_config *config, struct lane_map *map,
                     char error[CONFIG_ERROR])
{
    const struct image_shape *shape = &run->info->shape;
    char why[LANE_ERROR];
    if (lane_map_init(map, &config->camera, shape->width, shape->height, why))
        return true;
    snprintf(error, CONFIG_ERROR, "the camera does not fit frames of %dx%d: %s", shape->width, shape->height, why);
    return false;
}

static bool watch_config(struct run *run)
{
    if (!run->options->config)
        return true;
    const char *path = run->options->config, *slash = strrchr(path, '/');
    char *directory = slash ? strndup(path, (size_t)(slash - path) + 1) : strdup(".");
    run->edits = directory ? edited_open(directory) : -1;
    if (run->edits < 0)
        log_error("cannot watch %s for changes: %s", path, strerror(errno));
    free(directory);
    return run->edits > 0;
}

// Returns an exit code.
static enum exit_code open_source(struct run *run, const char *text)
{
    enum { WIDTH_MIN = 160, HEIGHT_MIN = 90 }; // smaller pictures have fewer rows than LANE_SAMPLES, and false lines
    const struct lane_options *o = run->options;
    struct source_setup setup = {
        .text = text, .width = o->size.width, .height = o->size.height, .rate = o->rate, .paced = !o->fast};
    if (!pixel_format_take(o->pixel_format, &setup))
        return EXIT_USAGE;
    run->source = source_open(&setup);
    if (!run->source)
        return EXIT_NOTHING;
    run->info = source_info(run->source);
    const struct image_shape *shape = &run->info->shape;
    if (shape->width >= WIDTH_MIN && shape->height >= HEIGHT_MIN)
        return EXIT_OK;
    log_error("frames of %dx%d are too small to find lanes; give at least %dx%d", shape->width, shape->height,
              WIDTH_MIN, HEIGHT_MIN);
    return EXIT_USAGE;
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
    // A second frame in flight is later on the screen, but upload, kernels and finding overlap.
    run->depth = run->window || run->info->live ? 1 : 2;
}

static enum exit_code open_pipeline(struct run *run, const struct lane_config *config, const struct lane_map *map)
{
    const struct lane_options *o = run->options;
    const bool gl = o->path >= 0 && path_kind_info((enum path_kind)o->path)->needs_gl;
    if (!lane_place_open(&run->place, o->path, o->device, gl ? lane_window_gl(run->window) : NULL))
        return EXIT_NOTHING;
    source_place(run->source, run->place.device ? run->place.device->pages : NULL);
    const struct path_setup setup = {.kind = run->place.kind,
                                     .device = run->place.device,
                                     .gl = run->place.gl,
                                     .input = run->info->shape,
                                     .depth = run->depth,
                                     .threads = o->threads};
    return lane_pipeline_init(&run->pipeline, map, &config->settings, &setup) ? EXIT_OK : EXIT_NOTHING;
}

// Takes a frame from the source and submits it. Sets *ended if there are no more frames. Returns an exit code.
static enum exit_code submit_next(struct run *run, bool *ended)
{
    struct frame frame;
    *ended = true;
    switch (source_next(run->source, &frame, WAIT_MS)) {
    case SOURCE_TIMEOUT:
        *ended = false;
        return EXIT_OK;
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
    *ended = false;
    run->flight[run->flights++] = frame;
    run->submitted++;
    return lane_pipeline_submit(&run->pipeline, &frame.image, frame.number) ? EXIT_OK : EXIT_DEVICE;
}

// Adds the frame's stages to the table. Finding took the time from `found_ns` to now. Returns the sum of all stages, in
// milliseconds.
static double measure(struct run *run, const struct frame *frame, const struct path_result *path, int64_t found_ns)
{
    const int64_t now_ns = clock_now_ns();
    int64_t sum_ns = now_ns - found_ns;
    meter_begin(&run->meter, frame->number);
    for (int i = 0; i < path->stages; i++) {
        meter_add(&run->meter, NULL, NULL, &path->stage[i]);
        sum_ns += path->stage[i].end_ns - path->stage[i].start_ns;
    }
    meter_host(&run->meter, NULL, "find lines", found_ns, now_ns);
    meter_shown(&run->meter, frame->captured_ns, now_ns);
    return (double)sum_ns / 1e6;
}

// Finds the lines in the oldest frame in flight, and reports them. Returns an exit code.
static enum exit_code finish_oldest(struct run *run)
{
    const struct frame *frame = &run->flight[0];
    const struct image_shape *shape = &frame->image.shape;
    struct lane_table table;
    struct lane_result result;
    struct path_result path;
    char file[FILE_NAME];
    if (!lane_pipeline_collect(&run->pipeline, &table, &path))
        return EXIT_DEVICE;
    const int64_t found_ns = clock_now_ns();
    lane_track(&run->tracker, &table, &result, run->window ? &run->trace : NULL);
    const struct lane_frame about = {file, shape->width, shape->height, measure(run, frame, &path, found_ns)};
    snprintf(file, sizeof(file), "%s#%llu", run->info->name, (unsigned long long)frame->number);
    run->frames++;
    run->counts[result.state]++;
    run->milliseconds += about.milliseconds;
    if (!truth_add(&run->truth, frame->number) ||
        (run->options->json && !lane_report(&about, &run->pipeline.map, &result)))
        return EXIT_FAILED_SOME; // main logs a broken standard output
    run->quit = run->window && !lane_window_show(run->window, &run->pipeline, &frame->image, &result, &run->trace);
    source_return(run->source, frame);
    run->flights--;
    memmove(&run->flight[0], &run->flight[1], (size_t)run->flights * sizeof(run->flight[0]));
    return EXIT_OK;
}

static bool is_config(const char *name, const void *path)
{
    const char *slash = strrchr(path, '/');
    return strcmp(name, slash ? slash + 1 : path) == 0;
}

// Follows changes of the configuration file. A wrong file changes nothing. Returns an exit code.
static enum exit_code follow_config(struct run *run)
{
    struct lane_config config;
    struct lane_map map;
    struct lane_pipeline pipeline;
    char error[CONFIG_ERROR];
    if (!edited_any(run->edits, is_config, run->options->config))
        return EXIT_OK;
    if (!read_config(run->options, &config, error) || !make_map(run, &config, &map, error)) {
        log_error("%s; the former configuration stays in use", error);
        return EXIT_OK;
    }
    while (run->flights > 0) {
        const enum exit_code code = finish_oldest(run);
        if (code != EXIT_OK)
            return code;
    }
    if (!lane_pipeline_init(&pipeline, &map, &config.settings, &run->pipeline.setup))
        return EXIT_OK; // logged
    log_info("%s changed: using it", run->options->config);
    if (memcmp(map.picture, run->pipeline.map.picture, sizeof(map.picture)) != 0)
        run->tracker = (struct lane_tracker){.known = false};
    lane_pipeline_finish(&run->pipeline);
    run->pipeline = pipeline;
    return EXIT_OK;
}

// Returns an exit code.
static enum exit_code process(struct run *run)
{
    enum exit_code code = EXIT_OK, source_code = EXIT_OK;
    bool ended = false;
    struct status_line status = {0};
    while (code == EXIT_OK && process_interrupted() == 0 && !run->quit) {
        const int before = run->submitted;
        code = follow_config(run);
        if (code == EXIT_OK && !ended && run->flights < run->depth && (run->limit == 0 || run->submitted < run->limit))
            code = source_code = submit_next(run, &ended);
        ended = ended || (run->limit > 0 && run->submitted == run->limit);
        if (code == EXIT_OK && (run->flights == run->depth || (run->flights > 0 && run->submitted == before)))
            code = source_code == EXIT_DEVICE ? source_code : finish_oldest(run);
        else if (ended && run->flights == 0)
            break;
        if (!run->window && !run->options->json)
            status_line_tick(&status, "%d frames, %.1f fps", run->frames, meter_fps(&run->meter));
    }
    status_line_end(&status);
    if (run->window && lane_window_lost(run->window))
        return EXIT_DEVICE;
    return code == EXIT_OK ? source_code : code;
}

static enum exit_code open_all(struct run *run, const char *source)
{
    struct lane_config config;
    struct lane_map map;
    char error[CONFIG_ERROR];
    if (!read_config(run->options, &config, error)) {
        log_error("%s", error);
        return EXIT_USAGE;
    }
    enum exit_code code = open_source(run, source);
    if (code == EXIT_OK && run->options->calibrate) {
        run->camera = config.camera;
        return EXIT_OK;
    }
    if (code == EXIT_OK && !make_map(run, &config, &map, error)) {
        log_error("%s", error);
        return EXIT_USAGE;
    }
    if (code == EXIT_OK && !watch_config(run))
        code = EXIT_NOTHING;
    if (code == EXIT_OK && !truth_open(&run->truth, run->options->truth, run->info))
        code = EXIT_NOTHING;
    if (code != EXIT_OK)
        return code;
    open_window(run);
    return open_pipeline(run, &config, &map);
}

// Frames may lie in the device's memory, and the gl path uses the window's context.
static void close_all(struct run *run)
{
    lane_pipeline_finish(&run->pipeline);
    for (int i = 0; i < run->flights; i++)
        source_return(run->source, &run->flight[i]);
    source_close(run->source);
    if (run->edits > 0)
        close(run->edits);
    lane_place_close(&run->place);
    lane_window_close(run->window);
}

static void print_summary(const struct run *run)
{
    printf("%d frames: lanes in %d, held in %d, none in %d; %.2f ms per frame\n", run->frames, run->counts[LANE_SEEN],
           run->counts[LANE_HELD], run->counts[LANE_NONE], run->milliseconds / run->frames);
    const char *path = path_kind_name(run->place.kind), *mode = path_info(run->pipeline.path)->sharing;
    const bool same = strcmp(path, mode) == 0;
    printf("path %s%s%s%s, device %s, %.1f fps\n", path, same ? "" : " (", same ? "" : mode, same ? "" : ")",
           run->place.gl       ? run->place.gl->name
           : run->place.device ? run->place.device->info.name
                               : "cpu",
           meter_fps(&run->meter));
    meter_print(&run->meter, stdout);
}

int lane_run(const struct lane_options *options, const char *source)
{
    struct run *run = calloc(1, sizeof(*run)); // too large for the stack
    if (!run) {
        log_error("cannot find lanes: out of memory");
        return EXIT_NOTHING;
    }
    run->options = options;
    enum exit_code code = open_all(run, source);
    if (code == EXIT_OK) {
        process_hold_signals(CALLS_MAIN);
        code = options->calibrate ? lane_calibrate(run->source, &run->camera, options->config, options->threads)
                                  : process(run);
    }
    if (!truth_close(&run->truth))
        code = EXIT_FAILED_SOME;
    if (run->frames > 0 && !options->json)
        print_summary(run);
    if (run->window && lane_window_lost(run->window) && run->place.gl)
        return (int)code | EXIT_AT_ONCE; // the path's GL context was lost with the display
    close_all(run);
    free(run);
    return (int)code;
}
