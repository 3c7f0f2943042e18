// run.c: finds lanes in the frames of a source, and reports them
#include "base/alloc.h"
#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "command/lane/lane_report.h"
#include "command/shared.h"
#include "control/control.h"
#include "control/status.h"
#include "lane/finder.h"
#include "lane/lane_camera.h"
#include "lane/pipeline.h"
#include "lane/score.h"
#include "matte/matte.h"
#include "stream/stream.h"

#include <errno.h>
#include <jansson.h>
#include <limits.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

enum { WAIT_MS = 100, ENDLESS_FRAMES = 300, CONFIG_ERROR = LANE_ERROR + 64 };

static const double aim_kept = 0.2; // degrees: a smaller difference from --config is not written

struct run {
    struct lane_camera camera; // the calibration; with --calibrate: where it begins
    const struct lane_options *options;
    int edits; // descriptor of file_watch_open for the configuration file; 0: none
    struct stream stream;
    bool listed;        // the source is a list of pictures
    struct truth truth; // of --truth
    struct lane_pipeline pipeline;
    struct lane_map given; // the map of the calibration
    unsigned built;        // pipeline.changes of the lanes' chain
    struct lane_aim aim;
    struct lane_tracker tracker;
    uint32_t sums[LANE_STRIPS * LANE_COLUMNS_MAX]; // of the latest frame, if the lanes had another map
    struct lane_table table;                       // of the latest frame
    struct lane_trace trace;                       // of the latest frame, for the window and --measures
    struct lane_window *window;                    // NULL: none
    struct lane_board board;                       // the latest frame with its lines, for the window and the outputs
    // Of the latest frame.
    struct lane_frame frame; // its `file` is NULL: there was no frame
    char file[LANE_FILE_NAME];
    struct lane_map map;
    struct lane_result result;
    struct controlled controlled;
    struct control_socket *control; // NULL: none
    int counts[3];                  // frames of each lane_state
    int both;                       // frames with both lines of the own lane
    bool told;                      // the user was told that there is none
    int64_t first_ns;               // time of the first frame
    double milliseconds;
};

// ---- the socket ----

static json_t *state(void *context)
{
    const struct run *run = context;
    struct status status;
    json_t *object = json_object();
    status_read(&run->stream, &status);
    status_add_source(&status, object);
    status_add_state(&status, object);
    return object;
}

static json_t *get_lines(const struct controlled *controlled, const char *name, char why[PROPERTY_WHY])
{
    const struct run *run = controlled->context;
    return run->frame.file ? lane_json(&run->frame, &run->map, &run->result) : json_null();
}

static const struct property rows[] = {
    {"lines", .type = PROPERTY_OBJECT, .get = get_lines,
     .help = "lines of the last frame, as printed by --json, or null"},
    {"path", .type = PROPERTY_TEXT, .help = "path that runs the pipeline"},
    {"device", .type = PROPERTY_TEXT, .help = "OpenCL device of the path"},
    {"chain", .type = PROPERTY_TEXT, .help = "filter chain of the pipeline"},
    {0},
};

// ---- the start ----

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

static bool refuse_camera(const struct image_shape *shape, const char *why, char error[CONFIG_ERROR])
{
    snprintf(error, CONFIG_ERROR, "the camera does not fit frames of %dx%d: %s", shape->width, shape->height, why);
    return false;
}

// Scales the calibration to the source's frames.
static bool fit_camera(const struct run *run, struct lane_camera *camera, char error[CONFIG_ERROR])
{
    const struct image_shape *shape = &run->stream.playback.info->shape;
    const int from[2] = {camera->size[0], camera->size[1]};
    char why[LANE_ERROR];
    if (!lane_camera_fit(camera, shape->width, shape->height, why))
        return refuse_camera(shape, why, error);
    if (from[0] > 0 && (from[0] != shape->width || from[1] != shape->height) &&
        (camera->has_points || lane_lens_bends(&camera->lens)))
        log_info("%s is for frames of %dx%d: scaled to %dx%d", run->options->config, from[0], from[1], shape->width,
                 shape->height);
    return true;
}

static bool make_map(const struct run *run, struct lane_camera *camera, struct lane_map *map, char error[CONFIG_ERROR])
{
    const struct image_shape *shape = &run->stream.playback.info->shape;
    char why[LANE_ERROR];
    return fit_camera(run, camera, error) &&
           (lane_map_init(map, camera, shape->width, shape->height, why) || refuse_camera(shape, why, error));
}

static bool watch_config(struct run *run)
{
    if (!run->options->config)
        return true;
    char directory[PATH_MAX];
    file_directory(run->options->config, directory);
    run->edits = file_watch_open(directory);
    if (run->edits < 0)
        log_error("cannot watch %s for changes: %s", run->options->config, strerror(errno));
    return run->edits > 0;
}

enum { WIDTH_MIN = 160, HEIGHT_MIN = 90 }; // smaller pictures have fewer rows than LANE_SAMPLES, and false lines

static bool is_large(const struct image_shape *shape)
{
    return shape->width >= WIDTH_MIN && shape->height >= HEIGHT_MIN;
}

// Returns an exit code.
static enum exit_code open_source(struct run *run, const char *text, const struct lane_camera *camera)
{
    const struct lane_options *o = run->options;
    struct source_setup setup = {.text = text, .loop = o->loop, .settle = output_files_settle(&o->outputs)};
    // A recording has one size; points and a lens belong to one size.
    setup.slides = o->independent && !o->outputs.record && !camera->has_points && !lane_lens_bends(&camera->lens);
    setup.paced = !o->fast && !(o->headless && (o->outputs.record || setup.slides));
    if (!mode_options_take(&o->mode, &setup))
        return EXIT_USAGE;
    run->stream.playback.source = source_open(&setup);
    if (!run->stream.playback.source)
        return EXIT_NOTHING;
    run->stream.playback.info = source_info(run->stream.playback.source);
    run->listed = text && text[0] == '@';
    if (!output_files_spare(&o->outputs, run->stream.playback.source))
        return EXIT_USAGE;
    const struct image_shape *shape = &run->stream.playback.info->shape;
    if (is_large(shape))
        return EXIT_OK;
    log_error("frames of %dx%d are too small to find lanes; give at least %dx%d", shape->width, shape->height,
              WIDTH_MIN, HEIGHT_MIN);
    return EXIT_USAGE;
}

// Forgets the earlier frames, and the pitch that they gave.
static void begin_anew(struct run *run)
{
    const struct lane_options *o = run->options;
    const char *named = o->config ? "--config" : NULL;
    if (o->camera)
        named = "--camera";
    lane_pipeline_close(&run->pipeline);
    run->pipeline.map = run->given;
    run->pipeline.camera = run->camera;
    run->pipeline.changes++;
    run->tracker = (struct lane_tracker){.known = false};
    run->aim = (struct lane_aim){.named = o->independent ? NULL : named, .lane_width = o->lane_width};
}

// Finds the lines in the column sums of the pipeline's chain. Returns false on failure (logged).
static bool find_anew(struct run *run, const struct image *image, struct lane_trace *trace)
{
    if (!lane_pipeline_sums(&run->pipeline, image, run->sums))
        return false;
    run->table = lane_pipeline_table(&run->pipeline, run->sums);
    lane_track(&run->tracker, &run->table, &run->result, trace);
    return true;
}

// Finds the lines of a frame: with the lanes' sums, or with new ones if the camera has changed since. Returns false on
// failure (logged).
static bool find_lines(struct run *run, const struct frame *frame)
{
    const struct image *image = &frame->image;
    const uint32_t *sums = panes_result(run->stream.panes, PANE_MAIN)->measures.columns;
    const bool independent = run->options->independent;
    struct lane_trace *trace = run->window || run->options->measures ? &run->trace : NULL;
    if (independent)
        begin_anew(run);
    if (!is_large(&image->shape)) {
        run->result = (struct lane_result){.left = -1, .right = -1};
        memset(&run->trace, 0, sizeof(run->trace));
        run->table = lane_pipeline_table(&run->pipeline, sums);
        return true;
    }
    if (!lane_aim_search(&run->aim, &run->pipeline, image, &run->tracker))
        return false;
    if (run->built == run->pipeline.changes) {
        run->table = lane_pipeline_table(&run->pipeline, sums);
        lane_track(&run->tracker, &run->table, &run->result, trace);
    } else if (!find_anew(run, image, trace)) {
        return false;
    }
    if (!independent || !lane_aim_height(&run->aim, &run->pipeline, &image->shape, &run->result, &run->tracker, 1))
        return true;
    run->tracker = (struct lane_tracker){.known = false};
    return find_anew(run, image, trace);
}

// Sets the name of the latest frame: that of its picture, or of the source with the frame's number.
static void name_frame(struct run *run, const struct frame *frame)
{
    const struct source_info *info = run->stream.playback.info;
    const bool picture = frame->file || (run->options->independent && info->still);
    const char *name = frame->file ? frame->file : info->name;
    struct lane_frame *latest = &run->frame;
    latest->stem = snprintf(run->file, LANE_FILE_NAME, "%.*s", PATH_MAX, name);
    if (!picture)
        snprintf(run->file + latest->stem, (size_t)(LANE_FILE_NAME - latest->stem), "#%llu",
                 (unsigned long long)frame->number);
    latest->file = run->file;
    latest->listed = run->listed;
}

// Writes the lines of the latest frame in CULane's format. Returns false on failure (logged).
static bool report_culane(const struct run *run)
{
    const struct lane_options *o = run->options;
    if (!o->culane || lane_report_culane(&run->frame, &run->map, &run->result, o->culane, o->outputs.overwrite))
        return true;
    const char *advice = errno == EEXIST ? "; name another directory, or add --overwrite" : "";
    log_error("cannot write the lines of %s to %s (--culane): %s%s", run->file, o->culane, strerror(errno), advice);
    return false;
}

// Writes the truth and the lines of a frame. Returns false on failure (logged, or by main for the standard output).
static bool report(struct run *run, const struct frame *frame)
{
    const struct lane_options *o = run->options;
    truth_add(&run->truth, frame->number);
    if (!report_culane(run))
        return false;
    const struct lane_measures measures = {run->table, &run->trace};
    return !o->json || lane_report(&run->frame, &run->map, &run->result, o->measures ? &measures : NULL);
}

// Says once that no frame has a lane: after 3 seconds at 30 frames per second, or at the end.
static void say_none(struct run *run, bool ended)
{
    enum { SOON = 90 };
    const int frames = run->counts[LANE_NONE] + run->counts[LANE_SEEN] + run->counts[LANE_HELD];
    const struct lane_camera *camera = &run->pipeline.camera;
    if (run->both > 0 || run->told || frames == 0 || (frames < SOON && !ended))
        return;
    run->told = true;
    if (camera->has_points)
        log_warn("no frame of %d has both lines of a lane; move the points with --calibrate", frames);
    else
        log_warn("no frame of %d has both lines of a lane, so the pitch of %.1f degrees and the height of %.2f m are a "
                 "guess; mark the lane with --calibrate, or give --camera height=H,pitch=P",
                 frames, camera->pitch, camera->height);
}

// Returns the origin of a number of the calibration.
static const char *from(bool lines, bool user)
{
    if (lines)
        return "lines";
    return user ? "user" : "assumed";
}

// Finds the lines of a frame, and reports them. Returns false on failure (logged; the exit code is set).
static bool find(struct run *run, const struct frame *frame)
{
    struct stream *s = &run->stream;
    const struct image_shape *shape = &frame->image.shape;
    const struct path_result *path = panes_result(s->panes, PANE_MAIN);
    const int64_t begun_ns = clock_now_ns();
    run->first_ns = s->meter.frames == 0 ? frame->elapsed_ns : run->first_ns;
    run->pipeline.frame_time = panes_frame_time(s->panes, frame);
    if (!find_lines(run, frame)) {
        s->code = EXIT_DEVICE;
        return false;
    }
    const int64_t found_ns = clock_now_ns();
    meter_host(&s->meter, "main", "find lines", begun_ns, found_ns);
    int64_t sum_ns = found_ns - begun_ns;
    for (int i = 0; i < path->stages; i++)
        sum_ns += path->stage[i].end_ns - path->stage[i].start_ns;
    const struct lane_aim *aim = &run->aim;
    const struct lane_camera *camera = &run->camera;
    run->map = run->pipeline.map;
    run->frame = (struct lane_frame){.width = shape->width,
                                     .height = shape->height,
                                     .milliseconds = (double)sum_ns / 1e6,
                                     .pitch = aim->pitch,
                                     .yaw = aim->yaw,
                                     .above = run->pipeline.camera.height,
                                     .pitch_from = from(aim->found, camera->has_pitch || camera->has_points),
                                     .height_from = from(aim->measured, camera->has_height || camera->has_points),
                                     .seconds = (double)(frame->elapsed_ns - run->first_ns) / 1e9};
    name_frame(run, frame);
    run->counts[run->result.state]++;
    run->both += run->result.left >= 0 && run->result.right >= 0;
    say_none(run, false);
    run->milliseconds += run->frame.milliseconds;
    if (!report(run, frame)) {
        s->code = EXIT_FAILED_SOME;
        return false;
    }
    if (s->drawn)
        lane_board_draw(&run->board, &run->pipeline, &frame->image, &run->result);
    return true;
}

// Shows a frame with its lines. Returns the time when that was done.
static int64_t show(void *context, const struct frame *frame, bool again)
{
    struct run *run = context;
    struct stream *s = &run->stream;
    const struct lane_result *result = &run->result;
    if (!again && !find(run, frame))
        s->quit = true;
    else if (run->window && !lane_window_show(run->window, &run->pipeline, &frame->image, &run->board, result,
                                              &run->trace, &run->aim, s))
        s->quit = true;
    if (!again && !s->quit)
        lane_aim_follow(&run->aim, &run->pipeline, &frame->image.shape, result, &run->tracker);
    return clock_now_ns();
}

// The window's pictures of stages come from the same kind of path as the lines.
static void follow_path(void *context)
{
    struct run *run = context;
    struct stream *s = &run->stream;
    lane_pipeline_close(&run->pipeline);
    run->pipeline.setup = (struct path_setup){
        .kind = s->state.kind, .gl = s->gl, .input = s->playback.info->shape, .threads = s->setup.threads};
    if (path_kind_info(s->state.kind)->needs_device)
        run->pipeline.setup.device = devices_open(&s->devices, s->state.device);
    if (s->window)
        run->pipeline.setup.gl = window_gl(s->window);
}

// Sets the chain that finds the lines, and builds it.
static bool build(struct run *run)
{
    struct stream *s = &run->stream;
    run->built = run->pipeline.changes;
    panes_measure(s->panes, MEASURE_COLUMNS, LANE_STRIPS);
    if (!lane_pipeline_chain(&run->pipeline, &s->settings.chain) || !stream_build(s))
        return false;
    follow_path(run);
    return true;
}

// Builds the chain again, for another map or other settings. Sets the exit code on failure.
static bool rebuild(struct run *run)
{
    struct stream *s = &run->stream;
    stream_drain(s);
    if (s->code >= EXIT_NOTHING)
        return false;
    panes_close(s->panes);
    if (!build(run))
        s->code = EXIT_DEVICE;
    return s->code != EXIT_DEVICE;
}

static void serve(void *context)
{
    struct run *run = context;
    control_serve(run->control);
}

static void wait_for(void *context, int fd, int64_t timeout_ns)
{
    const struct run *run = context;
    control_wait(run->control, fd, timeout_ns);
}

// The next picture of --independent has another size.
static void follow_size(void *context)
{
    struct run *run = context;
    struct stream *s = &run->stream;
    const struct image_shape *shape = &s->playback.info->shape;
    char error[CONFIG_ERROR];
    if (!make_map(run, &run->camera, &run->given, error)) {
        log_error("%s", error);
        s->code = EXIT_FAILED_SOME;
        s->quit = true;
        return;
    }
    if (s->drawn) {
        lane_board_finish(&run->board);
        if (!lane_board_init(&run->board, shape->width, shape->height)) {
            log_error("cannot draw the lines: out of memory");
            s->code = EXIT_DEVICE;
        }
    }
    begin_anew(run);
    rebuild(run);
}

// Without a display, the run is headless. False: out of memory (logged).
static bool open_window(struct run *run)
{
    static const struct stream_client client = {
        .show = show, .changed = follow_path, .events = serve, .wait = wait_for, .reshaped = follow_size};
    const struct lane_options *o = run->options;
    const struct source_info *info = run->stream.playback.info;
    const int width = info->shape.width, height = info->shape.height;
    char why[256];
    if (!o->headless) {
        run->window = lane_window_open(width, height, why);
        if (!run->window)
            log_warn("cannot open a window: %s; running without it", why);
    }
    stream_init(&run->stream,
                &(struct stream_setup){
                    .client = &client,
                    .context = run,
                    .source_kept = "in this command",
                    .loop = o->loop,
                    .driven = run->control != NULL,
                    .served = run->control != NULL,
                    .threads = o->threads,
                    // A second frame in flight is later on the screen, but upload, kernels and finding overlap.
                    .depth = run->window || run->control || info->live ? 1 : 2,
                    .limit = (uint64_t)o->frames,
                });
    if (o->frames == 0 && (info->endless || o->loop) && !run->window && !o->socket)
        run->stream.setup.limit = ENDLESS_FRAMES;
    if (run->window || o->outputs.record || o->outputs.screenshot || o->socket)
        run->stream.drawn = &run->board.image;
    if (run->stream.drawn && !lane_board_init(&run->board, width, height)) {
        log_error("cannot draw the lines: out of memory");
        return false;
    }
    return outputs_open(&run->stream.outputs, NULL, info, width, height, &run->stream.meter, &run->stream.note);
}

static void take_config(struct run *run, const struct lane_config *config, const struct lane_map *map)
{
    run->pipeline.settings = config->settings;
    run->pipeline.marks = run->options->marks;
    if (memcmp(map->picture, run->given.picture, sizeof(map->picture)) == 0)
        return; // the pitch that was found stays
    run->given = *map;
    run->camera = config->camera;
    begin_anew(run);
}

static enum exit_code open_stream(struct run *run)
{
    const struct lane_options *o = run->options;
    struct stream *s = &run->stream;
    settings_init(&s->settings, NULL, o->path);
    if (!devices_choose(&s->devices, &s->settings, &s->state, o->device, false))
        return EXIT_NOTHING;
    if (path_kind_info(s->state.kind)->needs_gl && run->window)
        s->window = lane_window_window(run->window);
    if (!stream_open(s) || !build(run))
        return EXIT_NOTHING;
    process_hold_signals(CALLS_MAIN);
    return output_files_open(&s->files, &s->outputs, &s->meter) && stream_start(s) ? EXIT_OK : EXIT_NOTHING;
}

static bool is_config(const char *name, const void *path)
{
    return strcmp(name, file_base(path)) == 0;
}

// Follows changes of the configuration file. A wrong file changes nothing.
static void follow_config(struct run *run)
{
    struct stream *s = &run->stream;
    struct lane_config config;
    struct lane_map map;
    char error[CONFIG_ERROR];
    if (!file_watch_any(run->edits, is_config, run->options->config))
        return;
    if (!read_config(run->options, &config, error) || !make_map(run, &config.camera, &map, error)) {
        log_error("%s; the former configuration stays in use", error);
        return;
    }
    stream_drain(s);
    take_config(run, &config, &map);
    if (rebuild(run))
        log_info("%s changed: using it", run->options->config);
}

// Writes the estimated pitch, yaw and height to the file of --config, if they are sure and differ from it.
static void keep_aim(struct run *run)
{
    const struct lane_options *o = run->options;
    const struct lane_aim *aim = &run->aim;
    char why[LANE_ERROR];
    const double height = aim->measured ? run->pipeline.camera.height : run->camera.height;
    const bool moved = fabs(aim->pitch - run->camera.pitch) > aim_kept || fabs(aim->yaw - run->camera.yaw) > aim_kept ||
                       height != run->camera.height;
    if (!o->config || o->independent || !lane_aim_settled(aim) || !moved)
        return;
    if (!calibration_keep(aim->pitch, aim->yaw, height == run->camera.height ? 0 : height, o->config, why)) {
        log_error("%s: %s", o->config, why);
        run->stream.code = EXIT_FAILED_SOME;
    }
}

// Returns an exit code.
static enum exit_code process(struct run *run)
{
    struct stream *s = &run->stream;
    struct status_line status = {0};
    while (!stream_finished(s)) {
        follow_config(run);
        control_serve(run->control);
        if (run->window && !lane_window_read_keys(run->window, s))
            break;
        if (run->built != run->pipeline.changes && !run->options->independent)
            rebuild(run);
        stream_step(s, WAIT_MS);
        if (!run->window && !run->options->json)
            status_line_tick(&status, "%llu frames, %.1f fps", (unsigned long long)s->meter.frames,
                             meter_fps(&s->meter));
    }
    status_line_end(&status);
    if (run->window && lane_window_lost(run->window))
        s->code = EXIT_DEVICE;
    say_none(run, true);
    stream_complete(s);
    keep_aim(run);
    return s->code;
}

// Returns false if the directory of --culane cannot be written (logged).
static bool check_culane(const char *directory)
{
    struct stat status;
    const bool ok =
        !directory || (stat(directory, &status) == 0 && S_ISDIR(status.st_mode) && access(directory, W_OK | X_OK) == 0);
    if (!ok)
        log_error("cannot write files to '%s' (--culane); name an existing, writable directory", directory);
    return ok;
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
    const struct output_inputs inputs = {.source = source, .option = "--config", .file = run->options->config};
    enum exit_code code = output_files_claim(&run->stream.files, &run->options->outputs, &inputs);
    if (code != EXIT_OK)
        return code;
    if (!check_culane(run->options->culane))
        return EXIT_NOTHING;
    if ((code = open_source(run, source, &config.camera)) != EXIT_OK)
        return code;
    const bool calibrate = run->options->calibrate;
    if (!(calibrate ? fit_camera(run, &config.camera, error) : make_map(run, &config.camera, &map, error))) {
        log_error("%s", error);
        return EXIT_USAGE;
    }
    if (calibrate) {
        run->camera = config.camera;
        return EXIT_OK;
    }
    run->controlled = (struct controlled){.stream = &run->stream, .own = rows, .context = run, .state = state};
    if (!watch_config(run) || !truth_open(&run->truth, run->options->outputs.truth, run->stream.playback.info) ||
        (run->options->socket && !(run->control = control_open(&run->controlled, run->options->socket))))
        return EXIT_NOTHING;
    take_config(run, &config, &map);
    return open_window(run) ? open_stream(run) : EXIT_NOTHING;
}

// Sets the exit code if an output is incomplete. Returns false if a driver is still busy, or the display of the path's
// GL context is lost: see stream_close.
static bool close_all(struct run *run, enum exit_code *code)
{
    control_close(run->control);
    outputs_close(&run->stream.outputs);
    if (!playback_stop(&run->stream.playback, CAPTURE_STOP_MS))
        return false;
    if (!truth_close(&run->truth) || !output_files_close_trace(&run->stream.files, &run->stream.meter))
        *code = EXIT_FAILED_SOME;
    if (window_lost(run->stream.window))
        return false;
    lane_pipeline_close(&run->pipeline);
    if (!stream_close(&run->stream))
        return false;
    *code = *code == EXIT_OK ? run->stream.code : *code;
    if (run->edits > 0)
        close(run->edits);
    lane_window_close(run->window);
    lane_board_finish(&run->board);
    return true;
}

static void print_summary(const struct run *run)
{
    const struct stream *s = &run->stream;
    FILE *out = run->options->outputs.on_stdout ? stderr : stdout;
    struct pane_facts facts;
    fprintf(out, "%llu frame%s: lanes in %d, held in %d, none in %d; %.2f ms per frame\n",
            (unsigned long long)s->meter.frames, s->meter.frames == 1 ? "" : "s", run->counts[LANE_SEEN],
            run->counts[LANE_HELD], run->counts[LANE_NONE], run->milliseconds / (double)s->meter.frames);
    panes_describe(s->panes, PANE_MAIN, &facts);
    fprintf(out, "path %s", facts.kind);
    if (strcmp(facts.kind, facts.sharing) != 0)
        fprintf(out, " (%s)", facts.sharing);
    fprintf(out, ", device %s, %.1f fps\n", facts.device, meter_fps(&s->meter));
    meter_print(&s->meter, out);
}

// Finds lanes in the frames of the source (NULL: the first camera). Returns the exit code.
static int run_frames(const struct lane_options *options, const char *source)
{
    struct run *run = xalloc(sizeof(*run)); // too large for the stack
    run->options = options;
    enum exit_code code = open_all(run, source);
    if (code == EXIT_OK && options->calibrate) {
        process_hold_signals(CALLS_MAIN);
        code = lane_calibrate(&run->stream, &run->camera, options);
    } else if (code == EXIT_OK) {
        code = process(run);
    }
    if (run->stream.meter.frames > 0 && !options->json && !options->calibrate)
        print_summary(run);
    if (!close_all(run, &code))
        return (int)code | EXIT_AT_ONCE;
    free(run);
    return (int)code;
}

// ---- the command ----

#define AT(member) offsetof(struct lane_options, member)

static const struct option options[] = {
    {"camera", 0, OPTION_TEXT, "KEY=VALUE,...",
     .help = "height in metres; degrees: pitch (down), yaw (right), roll, fov; default: "
             "height=1.4,pitch=4,yaw=0,roll=0,fov=62",
     .offset = AT(camera)},
    {"points", 0, OPTION_TEXT, "X,Y,X,Y,X,Y,X,Y",
     .help = "four points of the picture in place of --camera: near left, near right, far right, far left of a "
             "rectangle on the road",
     .offset = AT(points)},
    {"lane-width", 0, OPTION_NUMBER, "METRES",
     .help = "width of the own lane, which gives the camera's height; default: 3 to 3.75, or the height of --camera",
     .offset = AT(lane_width), .min = 2, .max = 6, .excludes = "points|score"},
    {"config", 0, OPTION_TEXT, "FILE.json",
     .help = "read the calibration, the lens and settings of the search from FILE.json, again when it changes",
     .offset = AT(config), .complete = "file"},
    {"calibrate", 0, OPTION_FLAG,
     .help = "move the four points with the mouse; Enter writes them to the file of --config (default: lane.json)",
     .offset = AT(calibrate),
     .excludes = "headless|json|measures|culane|screenshot|record|truth|trace|socket|score|frames|path|device"},
    {"marks", 0, OPTION_TEXT, "NAME",
     .help =
         "the program ~/.config/monocle/mattes/NAME makes the picture of the marks: white is paint; none: no program",
     .offset = AT(marks), .excludes = "calibrate|score"},
    PATH_OPTION(AT(path), "pipeline"),
    DEVICE_OPTION(AT(device), "", ""),
    THREADS_OPTION(AT(threads)),
    {"frames", 'n', OPTION_INT, "N",
     .help = "stop after N frames; default: 300 if the source has no end, or with --loop", .offset = AT(frames),
     .min = 1, .max = INT_MAX},
    {"fast", 0, OPTION_FLAG, .help = "run as fast as possible, not at the source's rate; no effect with cameras",
     .offset = AT(fast)},
    LOOP_OPTION(AT(loop)),
    {"independent", 0, OPTION_FLAG,
     .help = "the frames are unrelated pictures of any size: each one is a first frame; raw_file is the picture's path",
     .offset = AT(independent), .excludes = "calibrate|score"},
    {"headless", 0, OPTION_FLAG, .help = "run without a window", .offset = AT(headless)},
    JSON_OPTION(AT(json), "print one JSON object per frame on standard output"),
    {"measures", 0, OPTION_FLAG,
     .help = "with --json: also the column sums of the ridges, their histogram and its peaks (docs/lane.md)",
     .offset = AT(measures), .excludes = "calibrate|score"},
    {"culane", 0, OPTION_TEXT, "DIRECTORY",
     .help = "write the lines of each frame in CULane's format to DIRECTORY/NAME.lines.txt; existing files need "
             "--overwrite",
     .offset = AT(culane), .complete = "directory"},
    OUTPUT_OPTIONS(AT(outputs)),
    SOCKET_OPTION(AT(socket), "reads the lines and drives the run"),
    {"score", 0, OPTION_TEXT, "TRUTH.json", .help = "score the results on standard input against this truth",
     .offset = AT(score), .complete = "file", .excludes = "screenshot|record|trace|socket"},
    MODE_OPTIONS(AT(mode)),
    LOG_LEVEL_OPTION(AT(log_level)),
    {0},
};

static const char *const examples[] = {
    "monocle lane clip.y4m --headless --fast --json  find the lanes of a video, one JSON object per frame",
    "monocle lane camera --camera height=1.2,pitch=6,fov=70  find lanes with a camera at this place",
    "monocle lane camera --calibrate --config car.json  find the place of the camera by hand",
    "monocle lane clip.y4m --headless --record lines.mp4  record the video with its lines",
    "monocle lane road:level=rain --headless --fast --truth truth.json --json  find the lines of a synthetic road",
    "monocle lane --score truth.json <results.json  compare found lane lines with the truth",
    NULL,
};

static const char *const details[] = {
    "The truth and the results have TuSimple's format: one JSON object per line with raw_file, h_samples and lanes. "
    "Results without raw_file are in the order of the truth's frames. The last line has TuSimple's accuracy "
    "and rates, and CULane's F1. docs/lane.md defines them.",
    NULL,
};

static const char *const exits[] = {
    "0\tdone",
    "1\tthe source or an output failed during the run",
    "2\twrong arguments, or an impossible calibration",
    "3\tthere is no such source or device, or an output cannot be written; --calibrate: no window can be opened; "
    "--score: a file cannot be read or is "
    "not in TuSimple's format, or the files are not of the same run",
    "4\tevery path failed, or the display was lost",
    "129, 130, 143\tended by SIGHUP, SIGINT or SIGTERM",
    NULL,
};

// ---- the score ----

static void print_score(const struct score *s, bool json)
{
    if (json) {
        print_json(json_pack("{s:I,s:f,s:f,s:f,s:f,s:f,s:f,s:I,s:I,s:I}", "frames", (json_int_t)s->frames, "accuracy",
                             s->accuracy, "false_positives", s->false_positives, "false_negatives", s->false_negatives,
                             "f1", s->f1, "precision", s->precision, "recall", s->recall, "truth_lines",
                             (json_int_t)s->truth, "found_lines", (json_int_t)s->found, "matches",
                             (json_int_t)s->matches),
                   JSON_REAL_PRECISION(6));
        return;
    }
    printf("%zu lines in the truth, %zu found, %zu match: precision %.3f, recall %.3f\n", s->truth, s->found,
           s->matches, s->precision, s->recall);
    printf("accuracy %.3f, false positives %.3f, false negatives %.3f, F1 %.3f (%zu frame%s)\n", s->accuracy,
           s->false_positives, s->false_negatives, s->f1, s->frames, s->frames == 1 ? "" : "s");
}

// Scores the results on standard input, and prints the score as the last line. Returns the exit code.
static int run_score(const struct lane_options *o)
{
    const struct score_setup setup = {o->score, o->mode.size.width, o->mode.size.height};
    struct score score;
    if (isatty(STDIN_FILENO)) {
        log_error("--score reads results from standard input; run: monocle lane --score TRUTH.json <RESULTS.json");
        return EXIT_USAGE;
    }
    if (!score_read(&setup, stdin, &score))
        return EXIT_NOTHING;
    print_score(&score, o->json);
    return EXIT_OK;
}

static int lane_main(int argc, char **argv)
{
    struct lane_options o = {.path = -1, .log_level = LOG_WARN, .outputs.settle = -1};
    struct command_operands operands;
    if (!command_parse(&lane_command, argc, argv, &o, 1, &operands))
        return operands.code;
    log_set_level((enum log_level)o.log_level);
    const struct path_kind_info *kind = o.path >= 0 ? path_kind_info((enum path_kind)o.path) : NULL;
    if (kind && !kind->needs_device && !device_options_unused(o.device, NULL, kind->name))
        return EXIT_USAGE;
    if (o.score && !command_limit_operands(&lane_command, &operands, 0))
        return EXIT_USAGE;
    if (!output_files_check(&o.outputs, o.json) ||
        !loop_option_fits(o.loop, operands.count > 0 ? operands.word[0] : NULL))
        return EXIT_USAGE;
    if (o.measures && !o.json) {
        log_error("--measures prints nothing without --json; add it");
        return EXIT_USAGE;
    }
    if (o.marks && strcmp(o.marks, "none") == 0)
        o.marks = NULL;
    char why[MATTE_WHY] = "the name has letters, digits, '-' and '_'";
    if (o.marks && (!matte_name_ok(o.marks) || !matte_ready(o.marks, why))) {
        log_error("--marks: %s", why);
        return EXIT_USAGE;
    }
    if (o.calibrate && !o.config)
        o.config = "lane.json";
    if (o.score)
        return run_score(&o);
    return run_frames(&o, operands.count > 0 ? operands.word[0] : NULL);
}

const struct command lane_command = {
    .name = "lane",
    .usage = "[SOURCE] [options]",
    .summary = "find the lane lines of a road",
    .examples = examples,
    .details = details,
    .exits = exits,
    .options = options,
    .complete = "source",
    .run = lane_main,
};
