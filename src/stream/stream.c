// stream.c: takes frames from the source, runs them through the panes, and passes the results to the outputs and to the
// client
#include "stream/stream.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/hash.h"
#include "base/log.h"
#include "compute/gl_context.h"
#include "filter/user_filter.h"
#include "matte/matte.h"
#include "sink/screenshot.h"
#include "tune/live_tuning.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { BUILD_WAIT_NS = 8000000, TUNING_PATIENCE_MS = 250 };
enum { READY_NS = 500000 }; // how often a frame in flight is polled while a path is being built
enum { RESHAPED_S = 6 };

static void wait(struct stream *s, int fd, int64_t timeout_ns)
{
    if (s->setup.client->wait)
        s->setup.client->wait(s->setup.context, fd, timeout_ns);
    else
        clock_sleep_until_ns(clock_now_ns() + timeout_ns);
}

static void notify_client(struct stream *s)
{
    if (s->setup.client->changed)
        s->setup.client->changed(s->setup.context);
}

void stream_init(struct stream *s, const struct stream_setup *setup)
{
    s->setup = *setup;
    s->playback.loop = setup->loop;
    s->playback.settings = &s->settings;
    s->playback.meter = &s->meter;
    s->playback.note = &s->note;
    s->change.playback = &s->playback;
    s->change.note = &s->note;
    s->change.first = setup->text;
    s->change.refused = setup->source_kept;
    s->change.plays = setup->paced;
    s->change.allows = setup->client->allows;
    s->change.context = setup->context;
}

// ---- open and close ----

// A source that ends soon is over before the user edits a file.
void stream_watch_filters(struct stream *s)
{
    const bool lasts = s->playback.info->live || s->playback.info->endless || s->playback.loop;
    bool uses = s->setup.driven && user_filters_at(0);
    for (int i = 0; lasts && i < s->settings.chain.count; i++)
        uses = uses || s->settings.chain.stage[i].filter->user || chain_file(&s->settings.chain, i);
    if (!uses && !s->setup.driven)
        return;
    char path[PATH_MAX];
    if ((s->watch.descriptor = file_watch_open(NULL)) < 0)
        log_warn("cannot watch users' filters: %s", strerror(errno));
    for (int i = 0; s->watch.descriptor > 0 && user_filters_directory(i, path); i++) {
        if (file_watch_add(s->watch.descriptor, path) < 0 && errno != ENOENT)
            log_warn("cannot watch %s for edited filters: %s", path, strerror(errno));
    }
}

// Opens a GL context if the path needs one and there is no window. False on failure (logged).
static bool open_gl(struct stream *s)
{
    char why[256];
    if (s->window || !path_kind_info(s->state.kind)->needs_gl)
        return true;
    if (!(s->gl = gl_context_open_current(why)))
        log_error("cannot run the %s path: there is no GL context: %s", path_kind_name(s->state.kind), why);
    return s->gl != NULL;
}

bool stream_open(struct stream *s)
{
    if (!open_gl(s))
        return false;
    struct gl_context *gl = s->window ? window_gl(s->window) : s->gl;
    s->state.gl = gl != NULL;
    s->fixed = (struct image_shape){.width = s->settings.output.width, .height = s->settings.output.height};
    s->panes = panes_create(&(struct panes_setup){
        .settings = &s->settings,
        .state = &s->state,
        .devices = &s->devices,
        .source = s->playback.source,
        .window = s->window,
        .gl = gl,
        .meter = &s->meter,
        .note = &s->note,
        .encode = &s->outputs.encode,
        .fixed = &s->fixed,
        .depth = s->setup.depth,
        .threads = s->setup.threads,
    });
    s->playback.panes = s->panes;
    return true;
}

bool stream_build(struct stream *s)
{
    char *error = NULL;
    while (!panes_open(s->panes, &error)) {
        const char *kind = path_kind_name(s->state.kind), *why = error ? error : "see above";
        const bool last = s->settings.path != PATH_AUTO || s->state.kind == PATH_CPU;
        if (last)
            log_message(LOG_ERROR + LOG_LINES, "cannot build the %s path: %s", kind, why);
        else
            log_message(LOG_WARN + LOG_LINES, "cannot build the %s path; using the cpu path: %s", kind, why);
        free(error);
        error = NULL;
        if (last)
            return false;
        s->state.kind = PATH_CPU;
    }
    s->automatic.rebuilt = true;
    return true;
}

// Builds the state's path while the client shows this and the user may quit. False if the build fails (logged), or if
// the user quits.
static bool await_path(struct stream *s)
{
    panes_await(s->panes);
    while (!s->quit && panes_building(s->panes)) {
        panes_update(s->panes);
        s->setup.client->building(s->setup.context);
        s->quit = s->quit || process_interrupted() != 0;
        clock_sleep_until_ns(clock_now_ns() + BUILD_WAIT_NS);
    }
    return !s->quit && panes_take_news(s->panes) == PANES_CHANGED;
}

bool stream_build_soon(struct stream *s)
{
    const enum path_kind kind = s->state.kind;
    const bool alone = s->setup.at_once || !path_compiles(&s->settings.chain);
    const bool slow = s->setup.driven && kind != PATH_CPU;
    if (slow && alone)
        return await_path(s) && panes_warm_up(s->panes);
    if (slow)
        s->state.kind = PATH_CPU;
    if (!stream_build(s) || !panes_warm_up(s->panes))
        return false;
    if (!slow)
        return true;
    s->state.kind = kind;
    if (s->settings.path != PATH_AUTO)
        panes_await(s->panes);
    else
        panes_changed(s->panes, false);
    return true;
}

bool stream_follow_path(struct stream *s)
{
    const struct path_offer offer = panes_offer(s->panes);
    const bool automatic = s->settings.path == PATH_AUTO;
    const enum path_kind kind = automatic ? path_first(&offer) : (enum path_kind)s->settings.path;
    if (!devices_serve(&s->devices, &s->state, kind))
        return false;
    s->state.automatic = automatic;
    s->state.kind = kind;
    s->state.why = NULL;
    panes_changed(s->panes, false);
    return true;
}

bool stream_use_device(struct stream *s, int index)
{
    if (!devices_open(&s->devices, index))
        return false;
    s->state.device = index;
    panes_changed(s->panes, false);
    return true;
}

bool stream_tune(struct stream *s)
{
    if (!s->tuning && s->settings.tune) {
        if (!(s->tuning = live_tuning_open()))
            return false;
        panes_tune(s->panes, s->tuning);
    }
    if (s->tuning)
        live_tuning_pause(s->tuning, !s->settings.tune);
    return true;
}

bool stream_start(struct stream *s)
{
    const bool started = playback_start(&s->playback, s->meter.trace);
    if (started && s->settings.paused)
        playback_pause(&s->playback, true);
    return started;
}

bool stream_close(struct stream *s)
{
    if (matte_missed() > 0) {
        log_error("%llu frames were made without a matte, because its program failed",
                  (unsigned long long)matte_missed());
        s->code = s->code == EXIT_OK ? EXIT_FAILED_SOME : s->code;
    }
    matte_end(0);
    if (!playback_stop(&s->playback, CAPTURE_STOP_MS) || !panes_finish(s->panes) ||
        !live_tuning_close(s->tuning, TUNING_PATIENCE_MS) || window_lost(s->window))
        return false;
    source_close(s->playback.source);
    if (!source_change_close(&s->change))
        return false;
    gl_context_close_current(s->gl);
    s->gl = NULL;
    devices_close(&s->devices);
    if (s->watch.descriptor > 0)
        close(s->watch.descriptor);
    return true;
}

// ---- changes ----

// Reports what changed in the panes by itself. `ok` false: no path works any more.
static void report_news(struct stream *s, bool ok)
{
    s->code = ok ? s->code : EXIT_DEVICE;
    const enum panes_news news = panes_take_news(s->panes);
    if (news == PANES_FAILED)
        s->code = EXIT_NOTHING;
    if (news == PANES_UNCHANGED)
        return;
    s->automatic.rebuilt = true;
    notify_client(s);
}

// A signal, too, ends the wait for a stalled reader.
void stream_output_failed(struct stream *s)
{
    if (!process_interrupted())
        s->code = EXIT_FAILED_SOME;
    s->quit = s->quit || !s->window;
}

// Changes everything to the shape of the source's frames. The panes must be closed. If the run cannot continue, sets
// the exit code (logged).
static void follow_shape(struct stream *s)
{
    int width, height;
    settings_size(&s->settings.chain, &s->playback.info->shape, &width, &height);
    if (!outputs_resize(&s->outputs, width, height) && s->drawn) {
        outputs_stop_recording(&s->outputs);
        stream_output_failed(s);
    }
    if (!s->quit && !stream_build_soon(s)) {
        s->code = s->quit ? s->code : EXIT_DEVICE;
        return;
    }
    s->setup.client->reshaped(s->setup.context);
}

static void close_panes(struct stream *s)
{
    if (s->setup.client->closing)
        s->setup.client->closing(s->setup.context);
    panes_close(s->panes);
}

// Puts a new source into the stream.
static void replace_source(struct stream *s, struct source *source)
{
    const bool was_live = s->playback.info->live;
    close_panes(s);
    panes_set_source(s->panes, source);
    playback_replace(&s->playback, source);
    source_change_taken(&s->change);
    s->playback.still = s->playback.info->still && !source_change_loops(&s->change);
    outputs_set_source(&s->outputs, s->playback.info, was_live);
    source_rest(source, s->outputs.resting);
    s->settings.zoom = 0;
    s->setup.client->arrived(s->setup.context);
    note_set(&s->note, false, NOTE_S, "%s", s->playback.info->name);
}

// Carries out a change of the source. No frame may be in flight.
static void change_source(struct stream *s)
{
    struct source *source = source_change_step(&s->change);
    if (!source)
        return;
    replace_source(s, source);
    follow_shape(s);
    if (!s->quit && s->code < EXIT_NOTHING && !playback_start(&s->playback, s->meter.trace))
        s->code = EXIT_NOTHING;
}

// Follows the new shape of the source's frames. No frame may be in flight. If the run cannot continue, sets the exit
// code (logged).
static void reshape(struct stream *s)
{
    const struct image_shape *shape = &s->playback.info->shape;
    s->playback.reshaped = false;
    close_panes(s);
    if (!source_reshape(s->playback.source)) {
        s->code = EXIT_NOTHING;
        return;
    }
    if (s->playback.info->frame_s <= 0) // else the user knows that images have sizes
        note_set(&s->note, false, RESHAPED_S, "the camera now delivers %dx%d %s", shape->width, shape->height,
                 pixfmt_info(shape->format)->name);
    follow_shape(s);
    if (!s->quit && s->code < EXIT_NOTHING) // else no path is open, and no frame may arrive
        capture_resume(s->playback.capture);
}

// The edited files that concern a stream.
struct stream_edits {
    const struct chain *chain;
    bool *filters, *files; // users' filters; files that the chain's filters read
};

static bool take_edit(const char *name, const void *context)
{
    const struct stream_edits *edits = context;
    const char *dot = name[0] != '.' ? strrchr(name, '.') : NULL;
    const bool filter = dot && strcmp(dot, ".cl") == 0;
    *edits->filters = *edits->filters || filter;
    for (int i = 0; i < edits->chain->count; i++) {
        const char *file = chain_file(edits->chain, i);
        *edits->files = *edits->files || (file && strcmp(file_base(file), name) == 0);
    }
    return false; // both kinds may be among the events
}

// Watches the directories of the files that the chain's filters read, if the chain has others than before.
static void watch_files(struct stream *s)
{
    uint64_t hash = 0;
    for (int i = 0; i < s->settings.chain.count; i++) {
        const char *file = chain_file(&s->settings.chain, i);
        hash = file ? hash * 31 + hash_64(file, strlen(file)) : hash;
    }
    if (hash == s->watch.files)
        return;
    s->watch.files = hash;
    for (int i = 0; i < s->settings.chain.count; i++) {
        char directory[PATH_MAX];
        const char *file = chain_file(&s->settings.chain, i);
        if (!file)
            continue;
        file_directory(file, directory);
        if (file_watch_add(s->watch.descriptor, directory) < 0)
            log_warn("cannot watch %s for edited files: %s", directory, strerror(errno));
    }
}

// Takes edited files into the chain. If one is refused, the chain runs on, and the window shows the reason.
static void reload_files(struct stream *s)
{
    struct chain *chain = &s->settings.chain;
    for (int i = 0; i < chain->count; i++) {
        struct stage stage = chain->stage[i];
        const char *why, *file = chain_file(chain, i);
        if (!file)
            continue;
        if (!stage_prepare(&stage, &why)) {
            note_set(&s->note, true, 0, "%s: %s: %s", stage.filter->name, file, why);
            notify_client(s);
            return;
        }
        chain->stage[i] = stage;
    }
    note_clear(&s->note, true);
    log_info("a file of a filter changed: rebuilding");
    panes_changed(s->panes, true);
}

// Takes edited users' filters into the chain. If a file is refused, the chain runs on, and the window shows the reason.
static void reload_filters(struct stream *s)
{
    char error[USER_ERROR];
    int stage, param;
    const bool changed = user_filters_reload(error);
    if (error[0])
        note_set(&s->note, true, 0, "%s", error);
    else if (!changed) // a refused file has its last text again
        note_clear(&s->note, true);
    notify_client(s);
    if (!changed)
        return;
    log_info("users' filters changed: rebuilding");
    chain_renew(&s->settings.chain);
    if (!settings_selected(&s->settings, &stage, &param)) // the new filter has fewer parameters
        s->settings.selected = 0;
    panes_changed(s->panes, true);
}

// Follows changes of the kernel files, users' filters, the settings and the source. No frame may be in flight.
static void follow_changes(struct stream *s)
{
    if (devices_kernels_changed(&s->devices)) {
        log_info("kernel files changed: rebuilding");
        panes_changed(s->panes, true);
    }
    if (s->watch.descriptor > 0)
        watch_files(s);
    bool own = false, files = false;
    const bool many =
        file_watch_any(s->watch.descriptor, take_edit, &(struct stream_edits){&s->settings.chain, &own, &files});
    if (own || many)
        reload_filters(s);
    if (files || many)
        reload_files(s);
    // change_source and reshape wait for a running build. So they come before panes_update, which starts one.
    change_source(s);
    if (s->playback.reshaped && (!s->settings.paused || s->playback.stepping) && !panes_build_runs(s->panes))
        reshape(s);
    panes_update(s->panes);
    report_news(s, true);
    if (automatic_follow(&s->automatic, s->panes))
        notify_client(s);
}

// ---- frames ----

bool stream_finished(const struct stream *s)
{
    const uint64_t limit = s->setup.limit;
    const bool paused = s->settings.paused && s->playback.info->frame_s > 0; // the user may seek back
    const bool stays = s->setup.driven && limit == 0 && (s->playback.still || paused);
    return s->quit || s->code >= EXIT_NOTHING || process_interrupted() != 0 ||
           (limit > 0 && s->meter.frames >= limit) ||
           (s->playback.ended && panes_in_flight(s->panes) == 0 && !stays && !source_change_busy(&s->change) &&
            !source_change_more(&s->change));
}

// Takes the newest frame and submits it. False if none arrives in time, or if the source has ended or changed its
// shape.
static bool submit_newest(struct stream *s, int timeout_ms)
{
    struct frame frame;
    if (s->playback.ended || s->playback.reshaped || (s->setup.limit > 0 && s->playback.taken >= s->setup.limit))
        return false;
    if (s->setup.served) {
        wait(s, capture_event(s->playback.capture), timeout_ms * NS_PER_MS);
        timeout_ms = 0;
    }
    const enum source_status status = capture_take(s->playback.capture, &frame, timeout_ms);
    if (status == SOURCE_FRAME) {
        s->playback.taken++;
        playback_arrived(&s->playback, &frame);
        if (s->tuning) {
            const struct capture_counts counts = playback_counts(&s->playback);
            live_tuning_pace(s->tuning,
                             !s->setup.paced || s->playback.info->rate <= 0 ? 0 : 1000 / s->playback.info->rate,
                             counts.skipped + counts.dropped);
        }
        s->automatic.submitted_ns = clock_now_ns();
        report_news(s, panes_submit(s->panes, &frame, s->automatic.submitted_ns));
        return true;
    }
    s->playback.reshaped = status == SOURCE_RESHAPED && s->setup.client->reshaped;
    s->playback.ended = status != SOURCE_TIMEOUT && !s->playback.reshaped;
    // After a slide show, or a seek beyond an unknown end, the frame on the screen stays.
    if (status == SOURCE_END &&
        (s->playback.stepping || (s->playback.info->slides && s->setup.driven && !source_change_more(&s->change))))
        playback_pause(&s->playback, true);
    if (s->playback.ended)
        playback_arrived(&s->playback, NULL);
    if (status == SOURCE_RESHAPED && s->playback.ended)
        log_error("the source changed its frame size or format; start again");
    if (status == SOURCE_FAILED || (status == SOURCE_RESHAPED && s->playback.ended))
        s->code = EXIT_FAILED_SOME;
    return false;
}

// Takes the oldest frame in flight. Handles the user's events while a path is being built, because a driver that
// compiles may delay kernels that are ready (PoCL does). Serves the control socket also while a device filters, but not
// while frames are timed. NULL if no path works, or the user quits.
static const struct frame *collect(struct stream *s)
{
    if (s->code >= EXIT_NOTHING)
        return NULL;
    const bool polls = s->setup.client->events && !s->state.timed;
    while (polls && (s->setup.served || panes_busy(s->panes)) && !panes_ready(s->panes)) {
        s->setup.client->events(s->setup.context);
        if (stream_finished(s))
            return NULL;
        wait(s, -1, READY_NS);
    }
    const struct frame *frame = panes_collect(s->panes);
    report_news(s, frame != NULL);
    return frame;
}

const struct image *stream_picture(struct stream *s)
{
    const bool drawn = s->drawn && (s->meter.frames > 0 || panes_result(s->panes, PANE_MAIN));
    return drawn ? s->drawn : panes_picture(s->panes);
}

struct screenshot *stream_save(struct stream *s, bool both, const char *path)
{
    struct image pair = {0};
    struct screenshot *screenshot = NULL;
    struct claim claim;
    const struct image *picture = &pair;
    const char *look = s->setup.client->look ? s->setup.client->look(s->setup.context) : NULL;
    if (!both)
        picture = stream_picture(s);
    else if (!panes_compare(s->panes, &pair))
        return NULL;
    if (picture && path && !claim_take(&claim, path))
        log_error("cannot write %s: %s", path, strerror(errno));
    else if (picture && (path || output_claim_new(&claim, s->shown_file, &s->settings.chain, look)))
        screenshot = screenshot_start(&claim, !path, picture, s->shown_file);
    image_free(&pair);
    return screenshot;
}

static bool record(struct stream *s, const struct frame *frame)
{
    const int64_t begun_ns = clock_now_ns();
    if (!outputs_recording(&s->outputs))
        return true;
    const bool ok = outputs_record(&s->outputs, frame, stream_picture(s), !s->window);
    meter_host(&s->meter, "main", "record", begun_ns, clock_now_ns());
    return ok;
}

// Collects a frame, writes it to the outputs, and lets the client show it. `again`: it was shown before. False if no
// path works, or the user quits.
static bool finish_frame(struct stream *s, bool again)
{
    const struct frame *frame = collect(s);
    if (!frame)
        return false;
    const int64_t collected_ns = clock_now_ns();
    const struct path_result *result = panes_result(s->panes, PANE_MAIN);
    snprintf(s->shown_file, sizeof(s->shown_file), "%s", frame->file ? frame->file : "");
    const bool fits = s->drawn || outputs_resize(&s->outputs, result->width, result->height);
    if (fits && !outputs_send(&s->outputs, s->panes))
        stream_output_failed(s);
    const int64_t shown_ns = s->setup.client->show(s->setup.context, frame, again);
    if (!again && fits && !record(s, frame))
        stream_output_failed(s);
    if (again)
        meter_shown_again(&s->meter);
    else
        meter_shown(&s->meter, frame->captured_ns, shown_ns);
    if (!again && automatic_add(&s->automatic, s->panes, collected_ns))
        notify_client(s);
    if (!s->setup.driven)
        panes_release(s->panes); // else the frame may have to be filtered again
    return true;
}

// Results keep the size that the user has set, or with which a recording or the virtual camera has begun.
static void fix_size(struct stream *s)
{
    const struct outputs *o = &s->outputs;
    const bool held = !s->drawn && (o->camera || outputs_recording(o));
    struct image_shape fixed = {.width = s->settings.output.width, .height = s->settings.output.height};
    if (held)
        fixed = (struct image_shape){.width = o->width, .height = o->height};
    if (fixed.width == s->fixed.width && fixed.height == s->fixed.height)
        return;
    s->fixed = fixed;
    panes_changed(s->panes, false);
}

enum stream_turn stream_step(struct stream *s, int wait_ms)
{
    fix_size(s);
    if (outputs_rest_changed(&s->outputs)) { // --on-demand: the camera is closed while no program reads the virtual one
        source_rest(s->playback.source, s->outputs.resting);
        notify_client(s);
    }
    if (!outputs_follow(&s->outputs, s->settings.paused)) {
        s->code = EXIT_FAILED_SOME;
        s->quit = s->quit || !(s->window || s->setup.served);
    }
    const int in_flight = panes_in_flight(s->panes);
    if (in_flight == 0)
        follow_changes(s);
    if (s->quit || s->code >= EXIT_NOTHING) // then there may be no capture
        return STREAM_BUSY;
    // The last frame is shown again if the panes have changed and no new frame is there.
    bool again = panes_rerun(s->panes);
    const int depth = automatic_busy(&s->automatic) ? 1 : s->setup.depth;
    const bool full = outputs_full(&s->outputs),
               room = in_flight < depth && !full && (!s->settings.paused || s->playback.stepping);
    const bool submitted = room && submit_newest(s, in_flight > 0 || again ? 0 : wait_ms);
    again = again && !submitted;
    if (again)
        report_news(s, panes_submit_again(s->panes));
    const int now = panes_in_flight(s->panes);
    if (now == 0 && (full || s->playback.reshaped || (s->setup.driven && (s->settings.paused || s->playback.ended))))
        wait(s, -1, wait_ms * NS_PER_MS);
    if (now == 0 && !outputs_send_again(&s->outputs, s->panes))
        stream_output_failed(s);
    if (now == 0)
        return STREAM_IDLE;
    return (!submitted || now >= depth) && finish_frame(s, again) ? STREAM_SHOWN : STREAM_BUSY;
}

void stream_drain(struct stream *s)
{
    while (panes_in_flight(s->panes) > 0 && finish_frame(s, false))
        ;
}

void stream_complete(struct stream *s)
{
    static const int64_t doubtful_ns = 10000000000; // the longest time of the last frame of a damaged video
    const bool damaged = s->code != EXIT_OK || source_health(s->playback.source).faulty;
    int64_t rest_ns = 0;
    if (s->playback.ended)
        rest_ns = damaged ? doubtful_ns : INT64_MAX;
    if (!outputs_end_recording(&s->outputs, rest_ns, s->quit) && s->code == EXIT_OK && !process_interrupted())
        s->code = EXIT_FAILED_SOME;
    if (s->outputs.node_failed && s->code == EXIT_OK)
        s->code = EXIT_FAILED_SOME;
    if (s->meter.frames == 0 && s->playback.ended && s->code == EXIT_OK) {
        log_error("the source %s has no frames", s->playback.info->name);
        s->code = EXIT_NOTHING;
    }
    const char *missing = window_lost(s->window) ? "the last frame, a texture, was lost with the display"
                                                 : "the run ended before the first frame";
    const struct image *picture = s->files.options->screenshot ? stream_picture(s) : NULL;
    if (!output_files_save(&s->files, picture, s->shown_file, missing) && s->code == EXIT_OK)
        s->code = EXIT_FAILED_SOME;
}
