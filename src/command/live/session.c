// session.c: opens and closes the parts of a session; its showcase; the file of the last run
#include "command/live/session.h"

#include "base/cache.h"
#include "base/clock.h"
#include "base/log.h"
#include "base/text.h"
#include "command/live/live_options.h"
#include "command/live/view.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { SLIDES_WIDTH = 1280, SLIDES_HEIGHT = 720 }; // of the window of a slide show
enum { HINT_S = 6 };
enum { ENDLESS_FRAMES = 300 }; // limit of a headless run of an endless source without --frames

// ---- the last run ----

enum { FILE_MOST = 1 << 16, PLACE_MOST = 1 << 20 };
static const char file_name[] = "live";

static bool is_place(int at)
{
    return at > -PLACE_MOST && at < PLACE_MOST; // abs(INT_MIN) is undefined
}

// Takes a line of the file. Other versions of monocle may have written it, so it may be unknown or wrong.
static void take_line(struct last_run *last, struct settings *settings, const char *name, const char *value)
{
    struct option_size size;
    int x, y;
    if (strcmp(name, "size") == 0 && options_parse_size(value, &size)) {
        last->area.width = size.width;
        last->area.height = size.height;
    } else if (strcmp(name, "place") == 0 && sscanf(value, "%d,%d", &x, &y) == 2 && is_place(x) && is_place(y)) {
        last->area.x = x;
        last->area.y = y;
        last->area.placed = true;
    }
    for (int i = 0; i < CHAIN_PARTS && strlen(value) < CHAIN_TEXT; i++) {
        if (strcmp(name, chain_part_name(i + PART_CAMERA)) == 0)
            strcpy(last->part[i], value);
    }
    properties_restore(live_properties, settings, name, value);
}

// Reads the file. Returns false if it must not be used (logged).
static bool read_file(struct last_run *last, struct settings *settings)
{
    char path[PATH_MAX], *name, *value;
    const char *unsafe;
    size_t size;
    int line = 0;
    const int directory = state_open(path, false, &unsafe);
    if (unsafe)
        log_warn("the state of the last run is not used: the directory %s %s", path, unsafe);
    if (directory < 0)
        return !unsafe;
    char *text = cache_read(directory, file_name, FILE_MOST, &size);
    const bool safe = text || errno != EPERM;
    close(directory);
    if (!safe)
        log_warn("the state of the last run in %s/%s is not used: it is not a file that only you can write; remove it, "
                 "or run: chmod go-w %s/%s",
                 path, file_name, path, file_name);
    for (char *rest = text; rest && text_next_setting(&rest, &line, &name, &value);)
        take_line(last, settings, name, value ? value : "");
    free(text);
    return safe;
}

static void write_file(const struct last_run *last)
{
    char path[PATH_MAX], text[CHAIN_PARTS * CHAIN_TEXT + 1024] = "";
    const char *unsafe;
    if (last->area.width > 0)
        text_append(text, sizeof(text), "size = %dx%d\n", last->area.width, last->area.height);
    if (last->area.placed)
        text_append(text, sizeof(text), "place = %d,%d\n", last->area.x, last->area.y);
    text_append(text, sizeof(text), "%s", last->settings);
    for (int i = 0; i < CHAIN_PARTS; i++) {
        if (last->part[i][0])
            text_append(text, sizeof(text), "%s = %s\n", chain_part_name(i + PART_CAMERA), last->part[i]);
    }
    const int directory = state_open(path, true, &unsafe);
    if (directory < 0 || !cache_write(directory, file_name, text, strlen(text))) {
        const char *why = unsafe ? unsafe : strerror(errno);
        log_info("cannot keep the state of the window in %s/%s: %s", path[0] ? path : "$XDG_STATE_HOME/monocle",
                 file_name, why);
    }
    if (directory >= 0)
        close(directory);
}

// Takes the parts of the last run's chain for which there is no option. Warns of a part that cannot be used, and leaves
// it out. With a virtual camera, which would show what the part hid, returns false instead (logged).
static bool resume_chain(struct session *s)
{
    const struct live_options *o = &s->options;
    const bool given[CHAIN_PARTS] = {o->camera, false, o->titles};
    char error[CHAIN_ERROR];
    struct chain part;
    for (int i = 0; i < CHAIN_PARTS; i++) {
        const enum chain_part which = (enum chain_part)(i + PART_CAMERA);
        const char *text = s->last.part[i];
        if (given[i] || !text[0] || strcmp(text, "none") == 0)
            continue;
        if (chain_parse(&part, text, error) && look_mattes_ready(&part, error) &&
            settings_put_part(&s->stream.settings, which, &part, error)) {
            s->last.resumed = s->last.resumed || which == PART_LOOK;
        } else if (o->virtual_camera.count > 0) {
            log_error("cannot use the filters of the last run: %s; set others with -f, or none with --no-config",
                      error);
            return false;
        } else {
            log_warn("the filters of the last run are left out: %s", error);
            memcpy(s->last.lost, error, sizeof(error));
        }
    }
    return true;
}

// The user has not chosen the present chain: it is not kept.
static void last_run_chain(struct session *s)
{
    for (int i = 0; i < CHAIN_PARTS; i++)
        chain_print_part(&s->stream.settings.chain, i + PART_CAMERA, s->last.first_part[i]);
}

// Returns false (logged) if the run must not start.
static bool last_run_open(struct session *s)
{
    struct last_run *last = &s->last;
    const struct live_options *o = &s->options;
    const bool outputs = o->frames || o->outputs.record || o->outputs.screenshot;
    bool resumed = true;
    *last = (struct last_run){0};
    last->kept = live_has_display() && !o->headless && !o->no_config && read_file(last, &s->stream.settings);
    if (!last->kept)
        return true;
    properties_kept(live_properties, &s->stream.settings, last->settings);
    live_set_settings(o, &s->stream.settings);
    properties_kept(live_properties, &s->stream.settings, last->first_settings);
    if (!o->filters && !o->look && !o->showcase && !outputs)
        resumed = resume_chain(s);
    last_run_chain(s);
    return resumed;
}

static void last_run_close(struct session *s)
{
    struct last_run *last = &s->last;
    char settings[PROPERTIES_KEPT], part[CHAIN_TEXT];
    if (!last->kept || !s->stream.window)
        return;
    const struct window_area area = window_area(s->stream.window), *first = &last->first;
    const bool sized = area.width != first->width || area.height != first->height;
    const bool moved = area.placed && (area.x != first->x || area.y != first->y);
    properties_kept(live_properties, &s->stream.settings, settings);
    const bool set = strcmp(settings, last->first_settings) != 0;
    bool chosen = false;
    for (int i = 0; i < CHAIN_PARTS; i++) {
        if (chain_print_part(&s->stream.settings.chain, i + PART_CAMERA, part) &&
            strcmp(part, last->first_part[i]) != 0 && !strpbrk(part, "\n\r")) {
            strcpy(last->part[i], part);
            chosen = true;
        }
    }
    if (sized) {
        last->area.width = area.width;
        last->area.height = area.height;
    }
    if (moved) {
        last->area.x = area.x;
        last->area.y = area.y;
        last->area.placed = true;
    }
    if (set)
        strcpy(last->settings, settings);
    if (sized || moved || set || chosen)
        write_file(last);
    last->kept = false;
}

// ---- showcase ----

enum { LOOK_S = 5, SWEEP_S = 12 }; // how long a look is shown; round of the divider
static const int64_t divider_step_ns = NS_PER_S / 60;
static const double divider_room = 0.4; // it moves from 0.1 to 0.9

static void show_look(struct session *s, int look)
{
    char error[CHAIN_ERROR];
    struct chain part;
    s->showcase.look = look;
    s->showcase.look_ns = clock_now_ns();
    chain_parse(&part, s->looks.look[look].chain, error); // it was parsed before
    settings_put_part(&s->stream.settings, PART_LOOK, &part, error);
    last_run_chain(s);
}

void showcase_open(struct session *s)
{
    const struct live_options *o = &s->options;
    if (!s->stream.window || s->looks.count == 0 ||
        !(o->showcase || (!o->filters && !o->look && s->stream.playback.info->missing[0])))
        return;
    s->showcase.on = true;
    s->last.resumed = false;
    s->showcase.from_ns = clock_now_ns();
    s->stream.settings.split = SPLIT_ORIGINAL;
    show_look(s, 0);
}

void showcase_step(struct session *s)
{
    struct showcase *showcase = &s->showcase;
    const int64_t now = clock_now_ns();
    if (!showcase->on)
        return;
    if (now - showcase->divider_ns > divider_step_ns) {
        const double turn = 2 * acos(-1) * (double)(now - showcase->from_ns) / (SWEEP_S * 1e9);
        s->stream.settings.divider = (float)(0.5 + divider_room * sin(turn));
        showcase->divider_ns = now;
        s->redraw = true;
    }
    if (panes_building(s->stream.panes)) {
        showcase->look_ns = now;
    } else if (now - showcase->look_ns > LOOK_S * NS_PER_S) {
        show_look(s, (showcase->look + 1) % s->looks.count);
        panes_changed(s->stream.panes, false);
    }
}

void showcase_end(struct session *s)
{
    if (!s->showcase.on)
        return;
    s->showcase.on = false;
    s->stream.settings.divider = 0.5f;
    note_clear(&s->stream.note, false); // the hint
}

// ---- opening ----

static bool open_source(struct session *s)
{
    const struct live_options *o = &s->options;
    if (!controls_load(&s->controls, o->load_controls, &o->controls))
        return false;
    struct source_setup setup = o->setup;
    setup.controls = s->controls.setting;
    setup.control_count = s->controls.count;
    if (!(s->stream.playback.source = source_open(&setup)))
        return false;
    s->stream.playback.info = source_info(s->stream.playback.source);
    s->stream.playback.still = s->stream.playback.info->still && !source_change_loops(&s->stream.change);
    if (o->on_demand && !s->stream.playback.info->controls) {
        log_error("--on-demand needs a camera as the source, but %s is none", s->stream.playback.info->name);
        s->stream.code = EXIT_USAGE;
        return false;
    }
    if (!output_files_spare(&o->outputs, s->stream.playback.source)) {
        s->stream.code = EXIT_USAGE;
        return false;
    }
    return controls_save(&s->controls, o->source, s->stream.playback.info, &s->stream.files.claim[OUTPUT_CONTROLS]);
}

void session_warn_transparency(const struct session *s)
{
    if (!chain_changes_alpha(&s->stream.settings.chain))
        return;
    if (s->options.virtual_camera.count > 0)
        log_warn("a virtual camera cannot be transparent: it shows the hidden colour of transparent pixels");
    if (s->stream.window && !s->options.outputs.record)
        log_warn("the window cannot be transparent: it shows the hidden colour of transparent pixels; screenshots and "
                 "recordings (.webm, .mov) keep transparency");
}

static bool open_outputs(struct session *s)
{
    int width, height;
    settings_size(&s->stream.settings.chain, &s->stream.playback.info->shape, &width, &height);
    if (s->stream.settings.output.width > 0) {
        width = s->stream.settings.output.width;
        height = s->stream.settings.output.height;
    }
    const bool ok = outputs_open(&s->stream.outputs, &s->options.virtual_camera, s->stream.playback.info, width, height,
                                 &s->stream.meter, &s->stream.note);
    s->stream.outputs.chain = &s->stream.settings.chain;
    return ok && (!s->options.on_demand || outputs_watch(&s->stream.outputs));
}

// Returns the number of frames after which a run without a window ends if the user has set none; 0: the source ends, or
// the run goes on until the user stops it.
static int default_limit(const struct session *s)
{
    const struct live_options *o = &s->options;
    const bool endless = o->loop || s->stream.playback.info->endless;
    return o->frames == 0 && endless && o->virtual_camera.count == 0 && !o->socket ? ENDLESS_FRAMES : 0;
}

// Opens the window, if the user wants one. `egl`: only over EGL, and a missing window is not logged. False: the window
// cannot be drawn in (logged).
static bool open_window(struct session *s, bool egl)
{
    if (s->options.headless)
        return true;
    char title[300], why[256], limit[64] = "";
    if (default_limit(s) > 0)
        snprintf(limit, sizeof(limit), ", for %d frames; --frames sets another number", default_limit(s));
    snprintf(title, sizeof(title), "monocle: %s", s->stream.playback.info->name);
    struct window_setup setup = {
        .title = title,
        .fullscreen = s->stream.settings.fullscreen,
        .vsync = s->stream.settings.vsync,
        .egl = egl,
        .area = s->last.area,
    };
    if (s->stream.playback.info->slides) { // its images have different sizes
        setup.width = SLIDES_WIDTH;
        setup.height = SLIDES_HEIGHT;
    } else {
        settings_size(&s->stream.settings.chain, &s->stream.playback.info->shape, &setup.width, &setup.height);
        window_enlarge(&setup);
    }
    s->stream.devices.window = s->stream.window = window_open(&setup, why);
    if (!s->stream.window && !egl)
        log_warn("cannot open a window (%s); running without one%s", why, limit);
    return !s->stream.window || (s->view = view_open(s->stream.window, &s->keys));
}

static bool open_screen(struct session *s)
{
    if (!s->options.headless)
        device_drivers_start();
    const struct live_options *o = &s->options;
    return open_window(s, false) && devices_choose(&s->stream.devices, &s->stream.settings, &s->stream.state, o->device,
                                                   s->stream.window || o->socket);
}

// Closes the devices before the window, whose GL context they share. No source may still use the memory of a device.
static void close_screen(struct session *s)
{
    devices_close(&s->stream.devices);
    view_close(s->view);
    window_close(s->stream.window);
    s->view = NULL;
    s->stream.devices.window = s->stream.window = NULL;
}

// Returns the device that must write the window's textures; NULL: none.
static const struct device *zerocopy_device(struct session *s)
{
    const bool wanted = s->stream.window && path_kind_info(s->stream.state.kind)->shares_gl;
    return wanted ? devices_open(&s->stream.devices, s->stream.state.device) : NULL;
}

// Opens the window and the device. Most drivers share textures over GLX or over EGL, but not over both. If a GPU does
// not share over GLX, tries a window over EGL; if that fails, too, opens the first window again.
static bool open_screen_and_device(struct session *s)
{
    if (!open_screen(s))
        return false;
    const struct device *device = zerocopy_device(s);
    if (!device || device->shares_gl || device->info.host_unified || !window_gl_handles(s->stream.window).glx_context)
        return true;
    log_info("no GL sharing over GLX (%s); trying EGL", device->sharing_why);
    close_screen(s);
    if (open_window(s, true) && s->stream.window &&
        devices_pick(&s->stream.devices, &s->stream.state, s->options.device) && (device = zerocopy_device(s)) &&
        device->shares_gl)
        return true;
    close_screen(s);
    return open_screen(s);
}

void session_limit(struct session *s)
{
    struct stream *stream = &s->stream;
    if (!stream->window && stream->setup.limit == 0 && default_limit(s) > 0)
        stream->setup.limit = stream->meter.frames + (uint64_t)default_limit(s);
}

// Sets the number of frames to show and in flight, and whether a run without a window saves its last frame.
static void set_limits(struct session *s)
{
    const struct live_options *o = &s->options;
    struct stream *stream = &s->stream;
    const bool endless = o->loop || stream->playback.info->endless, kept = o->outputs.screenshot || o->outputs.record ||
                                                                           o->virtual_camera.count > 0 || o->socket ||
                                                                           o->stages;
    stream->setup.limit = (uint64_t)o->frames;
    stream->setup.served = s->control != NULL;
    stream->setup.driven = stream->window || s->control || s->options.stages;
    stream->setup.depth = 1; // with two, each frame would be shown one frame interval later
    stream_watch_filters(stream);
    if (stream->window)
        return;
    session_limit(s);
    s->save.last = !kept && (!o->headless || (o->frames == 0 && endless));
    // The times of overlapping frames cannot be compared. Edited filters are taken while no frame is in flight.
    if (!stream->playback.info->live && !stream->settings.tune && !stream->setup.driven &&
        stream->watch.descriptor <= 0)
        stream->setup.depth = 2; // latency does not matter: upload, kernels and download overlap
}

// Creates the files that grow during the run. Until here, a signal ends the process at once; from here on, it ends the
// run in order, so that no file is left incomplete.
static bool open_files(struct session *s)
{
    process_hold_signals(CALLS_MAIN);
    return output_files_open(&s->stream.files, &s->stream.outputs, &s->stream.meter);
}

// Opens the parts in the order in which they need each other. A wrong source leaves no trace file.
static bool open_parts(struct session *s)
{
    const struct live_options *o = &s->options;
    struct stream *stream = &s->stream;
    if ((o->socket && !(s->control = control_open(&s->controlled, o->socket))) || !open_source(s) ||
        !truth_open(&s->truth, o->outputs.truth, stream->playback.info) || !open_outputs(s) ||
        !open_screen_and_device(s))
        return false;
    session_warn_transparency(s);
    if (stream->window)
        s->last.first = window_area(stream->window);
    set_limits(s);
    events_open(s);
    showcase_open(s);
    const bool watched = stream->setup.driven && o->kernels;
    if (!stream_open(stream) || (s->save.last && !output_last_possible()) ||
        (watched && !devices_watch_kernels(&stream->devices)) || !stream_build_soon(stream) || !open_files(s))
        return false;
    if (s->showcase.on)
        panes_changed(stream->panes, false); // for the second pane
    if (stream->window)
        events_hint(s, s->showcase.on ? 0 : HINT_S);
    s->redraw = true;
    if (stream->settings.tune && !path_kind_info(stream->state.kind)->needs_device)
        log_warn("--tune: the %s path has nothing to tune; use -p zerocopy or -p opencl",
                 path_kind_name(stream->state.kind));
    return stream_tune(stream) && stream_start(stream);
}

const struct status *session_status(struct session *s)
{
    status_read(&s->stream, &s->status);
    const struct look *look = looks_with(&s->looks, &s->stream.settings.chain);
    s->status.look = look ? look->name : NULL;
    s->status.showcase = s->showcase.on;
    lists_fill(s, &s->status.list);
    s->status.adjusted = &s->controls.adjusted;
    return &s->status;
}

// ---- what properties and the socket ask of the session ----

static struct json_t *state(void *context)
{
    return report_json(session_status(context));
}

static bool is_stale(void *context)
{
    const struct session *s = context;
    return (s->stream.window && s->redraw) || s->save.count > 0;
}

static void changing(void *context)
{
    showcase_end(context); // it moves the divider
}

static bool press(void *context, const char *action, long long digit, char why[PROPERTY_WHY])
{
    return events_press(context, action, digit, why);
}

bool session_open(struct session *s)
{
    const struct live_options *o = &s->options;
    struct stream *stream = &s->stream;
    stream_init(stream, &(struct stream_setup){
                            .client = &live_client,
                            .context = s,
                            .text = o->source,
                            .source_kept = o->outputs.truth ? "in a run with --truth" : NULL,
                            .loop = o->loop,
                            .paced = o->setup.paced,
                            .at_once = path_named(o->path) && o->frames > 0,
                            .threads = o->threads,
                        });
    s->controlled = (struct controlled){.stream = stream,
                                        .own = live_properties,
                                        .context = s,
                                        .state = state,
                                        .stale = is_stale,
                                        .changing = changing,
                                        .changed = live_client.changed,
                                        .press = press};
    stream->change.list = o->playlist;
    stream->meter.opened_ns = clock_now_ns();
    stream->devices.kernels = o->kernels;
    settings_init(&stream->settings, &o->chain, o->path);
    live_set_settings(o, &stream->settings);
    if (!o->headless || o->socket)
        looks_open(&s->looks, true);
    if (!last_run_open(s)) {
        stream->code = EXIT_USAGE;
        return false;
    }
    const struct output_inputs inputs = {o->source, &stream->settings.chain, o->kernels, "--load-controls",
                                         o->load_controls};
    stream->code = output_files_claim(&stream->files, &o->outputs, &inputs);
    if (stream->code == EXIT_OK && open_parts(s))
        return true;
    if (!stream->quit && !process_interrupted() && stream->code == EXIT_OK)
        stream->code = EXIT_NOTHING;
    return false;
}

bool session_close(struct session *s)
{
    last_run_close(s);
    control_close(s->control);
    s->control = NULL;
    outputs_close(&s->stream.outputs);
    truth_close(&s->truth);
    if (!playback_stop(&s->stream.playback, CAPTURE_STOP_MS))
        return false;
    if (!output_files_close_trace(&s->stream.files, &s->stream.meter) && s->stream.code == EXIT_OK)
        s->stream.code = EXIT_FAILED_SOME;
    if (!stream_close(&s->stream))
        return false;
    close_screen(s);
    controls_free(&s->controls);
    lists_close(s);
    looks_close(&s->looks);
    return true;
}
