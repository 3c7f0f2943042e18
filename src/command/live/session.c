// session.c: opens and closes the parts of a session
#include "command/live/session.h"

#include "base/clock.h"
#include "base/log.h"
#include "command/edited.h"
#include "command/live/events.h"
#include "command/live/output_check.h"
#include "command/live/playback.h"
#include "compute/gl_context.h"
#include "filter/user_filters.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SLIDES_WIDTH = 1280, SLIDES_HEIGHT = 720 }; // of the window of a slide show
enum { HINT_S = 6, BUILD_WAIT_NS = 8000000, TUNING_PATIENCE_MS = 250 };
enum { ENDLESS_FRAMES = 300 }; // limit of a headless run of an endless source without --frames

static bool open_source(struct session *s)
{
    const struct live_options *o = &s->options;
    if (!controls_load(&s->controls, o))
        return false;
    struct source_setup setup = o->setup;
    setup.controls = s->controls.setting;
    setup.control_count = s->controls.count;
    if (!(s->source = source_open(&setup)))
        return false;
    s->info = source_info(s->source);
    s->still = s->info->still && !o->loop;
    if (o->on_demand && !s->info->controls) {
        log_error("--on-demand needs a camera as the source, but %s is none", s->info->name);
        s->code = EXIT_USAGE;
        return false;
    }
    if (!outputs_spare_source(o, s->source)) {
        s->code = EXIT_USAGE;
        return false;
    }
    return controls_save(&s->controls, o, s->info, &s->claims[OUTPUT_CONTROLS]);
}

void session_size(const struct session *s, int *width, int *height)
{
    char why[CHAIN_ERROR];
    *width = s->info->shape.width;
    *height = s->info->shape.height;
    chain_output_size(&s->wish.chain, width, height, why);
}

static bool open_outputs(struct session *s)
{
    int width, height;
    session_size(s, &width, &height);
    return outputs_open(&s->outputs, s->options.virtual_camera, s->info, width, height, &s->meter, &s->note) &&
           (!s->options.on_demand || outputs_watch(&s->outputs));
}

// Returns the number of frames after which a run without a window ends if the user has set none; 0: the source ends, or
// the run goes on until the user stops it.
static int default_limit(const struct session *s)
{
    const struct live_options *o = &s->options;
    const bool endless = o->loop || s->info->endless;
    return o->frames == 0 && endless && !o->virtual_camera && !o->socket ? ENDLESS_FRAMES : 0;
}

// Opens the window, if the user wants one. `egl`: only over EGL, and a missing window is not logged. False: the window
// cannot be drawn in (logged).
static bool open_window(struct session *s, bool egl)
{
    if (s->options.headless)
        return true;
    struct source_slide slide;
    char title[300], why[256], limit[64] = "";
    if (default_limit(s) > 0)
        snprintf(limit, sizeof(limit), ", for %d frames; --frames sets another number", default_limit(s));
    snprintf(title, sizeof(title), "monocle: %s", s->info->name);
    struct window_setup setup = {
        .title = title,
        .fullscreen = s->wish.fullscreen,
        .vsync = s->wish.vsync,
        .egl = egl,
        .area = *last_run_area(s),
    };
    if (source_slide(s->source, 0, &slide)) { // its images have different sizes
        setup.width = SLIDES_WIDTH;
        setup.height = SLIDES_HEIGHT;
    } else {
        session_size(s, &setup.width, &setup.height);
        window_enlarge(&setup);
    }
    s->devices.window = s->window = window_open(&setup, why);
    if (!s->window && !egl)
        log_warn("cannot open a window (%s); running without one%s", why, limit);
    return !s->window || (s->view = view_open(s->window, &s->keys));
}

static bool open_screen(struct session *s)
{
    if (!s->options.headless)
        device_drivers_start();
    return open_window(s, false) && devices_choose(&s->devices, &s->wish, &s->options);
}

// Closes the devices before the window, whose GL context they share. No source may still use the memory of a device.
static void close_screen(struct session *s)
{
    devices_close(&s->devices);
    view_close(s->view);
    window_close(s->window);
    s->view = NULL;
    s->devices.window = s->window = NULL;
}

// Returns the device that must write the window's textures; NULL: none.
static const struct device *zerocopy_device(struct session *s)
{
    const bool wanted = s->window && path_kind_info(s->wish.kind)->shares_gl;
    return wanted ? devices_open(&s->devices, s->wish.device) : NULL;
}

// Opens the window and the device. Most drivers share textures over GLX or over EGL, but not over both. If a GPU does
// not share over GLX, tries a window over EGL; if that fails, too, opens the first window again.
static bool open_screen_and_device(struct session *s)
{
    if (!open_screen(s))
        return false;
    const struct device *device = zerocopy_device(s);
    if (!device || device->shares_gl || device->info.host_unified || !window_gl_handles(s->window).glx_context)
        return true;
    log_info("no GL sharing over GLX (%s); trying EGL", device->sharing_why);
    close_screen(s);
    if (open_window(s, true) && s->window && devices_pick(&s->devices, &s->wish, s->options.device) &&
        (device = zerocopy_device(s)) && device->shares_gl)
        return true;
    close_screen(s);
    return open_screen(s);
}

// Watches the directories of users' filters while the run lasts, if the chain may use one. A source that ends is soon
// filtered, and has no time to be edited for.
static void watch_filters(struct session *s)
{
    const bool lasts = s->info->live || s->info->endless || s->options.loop;
    bool uses = s->driven && user_filters_at(0);
    for (int i = 0; lasts && i < s->wish.chain.count; i++)
        uses = uses || s->wish.chain.stage[i].filter->user;
    if (!uses)
        return;
    char path[PATH_MAX];
    if ((s->filter_watch = edited_open(NULL)) < 0)
        log_warn("cannot watch users' filters: %s", strerror(errno));
    for (int i = 0; s->filter_watch > 0 && user_filters_directory(i, path); i++) {
        if (!edited_add(s->filter_watch, path) && errno != ENOENT)
            log_warn("cannot watch %s for edited filters: %s", path, strerror(errno));
    }
}

// Sets the number of frames to show and in flight, and whether a run without a window saves its last frame.
static void set_limits(struct session *s)
{
    const struct live_options *o = &s->options;
    const bool endless = o->loop || s->info->endless,
               kept = o->screenshot || o->record || o->virtual_camera || o->socket;
    s->limit = (uint64_t)o->frames;
    s->driven = s->window || s->control;
    s->depth = 1; // with two, each frame would be shown one frame interval later
    watch_filters(s);
    if (s->window)
        return;
    if (s->limit == 0)
        s->limit = (uint64_t)default_limit(s);
    s->saves_last = !kept && (!o->headless || (o->frames == 0 && endless));
    // The times of overlapping frames cannot be compared. Edited filters are taken while no frame is in flight.
    if (!s->info->live && !o->tune && !s->driven && s->filter_watch <= 0)
        s->depth = 2; // latency does not matter: upload, kernels and download overlap
}

// Opens a GL context if the path needs one and there is no window. False on failure (logged).
static bool open_gl(struct session *s)
{
    char why[256];
    if (s->window || !path_kind_info(s->wish.kind)->needs_gl)
        return true;
    struct gl_context *gl = gl_context_open(false, why);
    if (!gl)
        log_error("cannot run the %s path: there is no GL context: %s", path_kind_name(s->wish.kind), why);
    else if (gl_context_bind(gl, false))
        s->gl = gl;
    else
        gl_context_close(gl);
    return s->gl != NULL;
}

static void close_gl(struct session *s)
{
    if (s->gl)
        gl_context_unbind(s->gl, false);
    gl_context_close(s->gl);
    s->gl = NULL;
}

static bool open_lanes(struct session *s)
{
    struct gl_context *gl = s->window ? window_gl(s->window) : s->gl;
    s->wish.gl = gl != NULL;
    s->lanes = lanes_create(&(struct lanes_setup){
        .wish = &s->wish,
        .devices = &s->devices,
        .source = s->source,
        .window = s->window,
        .gl = gl,
        .meter = &s->meter,
        .note = &s->note,
        .encode = outputs_camera_shape(&s->outputs),
        .depth = s->depth,
        .threads = s->options.threads,
    });
    return s->lanes != NULL;
}

bool session_tune(struct session *s)
{
    if (!s->online && s->wish.tune) {
        if (!(s->online = online_open()))
            return false;
        lanes_tune(s->lanes, s->online);
    }
    if (s->online)
        online_pause(s->online, !s->wish.tune);
    return true;
}

// Builds the wish's path while the window shows a message and the user may quit: compiling may take seconds. False if
// the build fails (logged), or if the user quits.
static bool await_path(struct session *s)
{
    lanes_await(s->lanes);
    for (s->redraw = true; !s->quit && lanes_building(s->lanes); events_handle(s, true)) {
        lanes_update(s->lanes);
        if (s->redraw) {
            note_set(&s->note, false, 0, "building the filters");
            s->drawn_ns = view_draw(s->view, status_read(s), NULL);
            note_clear(&s->note, false);
            s->redraw = false;
        }
        clock_sleep_until_ns(clock_now_ns() + BUILD_WAIT_NS);
    }
    return !s->quit && lanes_take_news(s->lanes) == LANES_CHANGED;
}

// Builds the wish's path and waits for it. If the user named no path, the cpu path replaces one that fails.
static bool build_path(struct session *s)
{
    char *error = NULL;
    while (!lanes_open(s->lanes, &error)) {
        const char *kind = path_kind_name(s->wish.kind), *why = error ? error : "see above";
        const bool last = s->options.path >= 0 || s->wish.kind == PATH_CPU;
        if (last)
            log_error("cannot build the %s path: %s", kind, why);
        else
            log_warn("cannot build the %s path; using the cpu path: %s", kind, why);
        free(error);
        error = NULL;
        if (last)
            return false;
        s->wish.kind = PATH_CPU;
    }
    return true;
}

// Builds the first path. The first build of kernels or shaders may take seconds. In a window, and for a new source of a
// driven run, the cpu path therefore runs the first frames, with the same bytes, while the wish's path is being built.
// Exception: the user gave both --path and --frames, or the cpu path cannot run the chain.
bool session_open_path(struct session *s)
{
    const enum path_kind kind = s->wish.kind;
    const bool named = s->options.path >= 0;
    const bool alone = (named && s->options.frames > 0) || !path_compiles(&s->wish.chain);
    const bool slow = kind != PATH_CPU && (s->window || (s->driven && s->meter.frames > 0 && !alone));
    if (slow && alone)
        return await_path(s) && lanes_warm_up(s->lanes);
    if (slow)
        s->wish.kind = PATH_CPU;
    if (!build_path(s) || !lanes_warm_up(s->lanes))
        return false;
    if (!slow)
        return true;
    s->wish.kind = kind;
    if (named)
        lanes_await(s->lanes);
    else
        lanes_changed(s->lanes, false);
    return true;
}

static bool open_trace(struct session *s)
{
    struct claim *claim = &s->claims[OUTPUT_TRACE];
    int file;
    bool ok = claim_make(claim, &file);
    const bool made = ok && file >= 0;
    if (ok && !made) {
        file = file_draft_begin(&s->trace_draft, claim->path);
        ok = file >= 0 || errno == ESPIPE; // trace_open opens pipes and devices
    }
    if (!ok || (made && !file_lock(file))) {
        log_error("cannot write the trace to %s: %s", claim->path,
                  errno == EWOULDBLOCK ? "another run writes it; name another file" : strerror(errno));
        return false;
    }
    s->trace_drafted = !made && file >= 0;
    s->trace = trace_open(claim->path, file);
    if (!s->trace && made)
        file_remove(claim->path, claim->own);
    return s->trace;
}

// Returns false if the trace is incomplete (logged).
static bool close_trace(struct session *s)
{
    const bool opened = s->trace != NULL, complete = trace_close(s->trace);
    const bool ok =
        !s->trace_drafted || claim_end_draft(&s->trace_draft, s->claims[OUTPUT_TRACE].path, opened && complete, opened);
    s->trace = NULL;
    s->trace_drafted = false;
    return complete && ok;
}

static bool start_recording(struct session *s)
{
    struct claim *claim = &s->claims[OUTPUT_RECORD];
    if (strcmp(s->options.record, "-") == 0)
        strcpy(claim->path, "-");
    return outputs_start_recording(&s->outputs, claim, s->options.record_quality);
}

// Creates the files that grow during the run. Until here, a signal ends the process at once; from here on, it ends the
// run in order, so that no file is left incomplete.
static bool open_files(struct session *s)
{
    process_hold_signals(CALLS_MAIN);
    return (!s->options.trace || open_trace(s)) && (!s->options.record || start_recording(s));
}

// Opens the parts in the order in which they need each other. A wrong source leaves no trace file.
static bool open_parts(struct session *s)
{
    const struct live_options *o = &s->options;
    if ((o->socket && !control_open(s, o->socket)) || !open_source(s) || !truth_open(&s->truth, o->truth, s->info) ||
        !open_outputs(s) || !open_screen_and_device(s))
        return false;
    if (s->window)
        last_run_opened(s);
    set_limits(s);
    events_open(s);
    showcase_open(s);
    const bool watched = s->driven && o->kernels;
    if (!open_gl(s) || !open_lanes(s) || (s->saves_last && !output_last_possible()) ||
        (watched && !devices_watch_kernels(&s->devices)) || !session_open_path(s) || !open_files(s))
        return false;
    if (s->showcase.on)
        lanes_changed(s->lanes, false); // for the second pane
    if (s->window)
        events_hint(s, s->showcase.on ? 0 : HINT_S);
    s->redraw = s->capture_due = true;
    if (s->wish.tune && !path_kind_info(s->wish.kind)->needs_device)
        log_warn("--tune: the %s path has nothing to tune; use -p zerocopy or -p opencl", path_kind_name(s->wish.kind));
    if (!session_tune(s))
        return false;
    s->meter.trace = s->trace;
    captures_open(&s->captures, o->capture);
    s->capture = capture_start(s->source, s->trace);
    if (s->capture && s->wish.paused) // by the control socket
        playback_pause(s, true);
    return s->capture != NULL;
}

bool session_open(struct session *s)
{
    s->meter.opened_ns = clock_now_ns();
    s->devices.kernels = s->options.kernels;
    wish_init(&s->wish, &s->options);
    if (!s->options.headless || s->options.socket)
        looks_open(&s->looks);
    last_run_open(s);
    s->code = outputs_check_files(&s->options, s->claims);
    if (s->code == EXIT_OK && open_parts(s))
        return true;
    if (!s->quit && !process_interrupted() && s->code == EXIT_OK)
        s->code = EXIT_NOTHING;
    return false;
}

bool session_close(struct session *s)
{
    last_run_close(s);
    control_close(s);
    outputs_close(&s->outputs);
    truth_close(&s->truth);
    captures_close(&s->captures);
    if (!capture_stop(s->capture))
        return false;
    if (!close_trace(s) && s->code == EXIT_OK)
        s->code = EXIT_FAILED_SOME;
    if (!lanes_finish(s->lanes) || !online_close(s->online, TUNING_PATIENCE_MS) || window_lost(s->window))
        return false;
    source_close(s->source);
    if (!source_change_close(&s->change))
        return false;
    close_gl(s);
    close_screen(s);
    controls_free(&s->controls);
    looks_close(&s->looks);
    if (s->filter_watch > 0)
        close(s->filter_watch);
    return true;
}
