// setup.c: opens and closes the parts of the live view
#include "command/live/live.h"

#include "base/clock.h"
#include "base/log.h"
#include "command/live/output_check.h"
#include "command/shared.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { HINT_S = 6, BUILD_WAIT_NS = 8000000, CLOSE_PATIENCE_MS = 250 };
enum { ENDLESS_FRAMES = 300 }; // limit of a headless run of an endless source without --frames

// Called after the source is open: a wrong source leaves no trace file.
static bool open_trace(struct live *live)
{
    return !live->options.trace || (live->trace = trace_open(live->options.trace)) != NULL;
}

static bool open_source(struct live *live)
{
    const struct live_options *o = &live->options;
    if (!live_load_controls(live))
        return false;
    struct source_setup setup = {
        .text = o->source,
        .width = o->size.width,
        .height = o->size.height,
        .rate = o->rate,
        .controls = live->control,
        .control_count = live->controls,
        .color = {(enum color_matrix)o->matrix, (enum color_range)o->range},
        .loop = o->loop,
        .paced = !o->fast && !(o->headless && o->record), // a recording without a window takes every frame
    };
    if (!pixel_format_take(o->pixel_format, &setup) || !(live->source = source_open(&setup)))
        return false;
    live->info = source_info(live->source);
    if (!outputs_spare_source(o, live->source)) {
        live->code = EXIT_USAGE;
        return false;
    }
    return live_save_controls(live);
}

// Opens the window; runs without one if that fails (logged). `egl`: over EGL only. False: the window cannot be drawn to
// (logged).
static bool open_screen(struct live *live, bool egl)
{
    const struct live_options *o = &live->options;
    char title[300];
    snprintf(title, sizeof(title), "monocle: %s", live->info->name);
    struct window_setup setup = {
        .title = title,
        .width = live->info->shape.width,
        .height = live->info->shape.height,
        .fullscreen = o->fullscreen,
        .vsync = live->wish.vsync,
        .egl = egl,
    };
    char why[256];
    window_enlarge(&setup);
    if (!o->headless && !(live->window = window_open(&setup, why)) && !egl)
        log_warn("cannot open a window (%s); running without one", why);
    if (live->window && !(live->renderer = renderer_open(window_is_es(live->window))))
        return false;
    return true;
}

// Sets the number of frames to show and in flight, and whether a run without a window saves its last frame.
static void set_limits(struct live *live)
{
    const struct live_options *o = &live->options;
    const bool endless = o->loop || live->info->endless;
    live->limit = (uint64_t)o->frames;
    live->depth = 1; // with two, each frame would be shown one frame interval later
    if (live->window)
        return;
    if (live->limit == 0 && endless && !live->camera) // a virtual camera runs until the user stops it
        live->limit = ENDLESS_FRAMES;
    const bool kept = o->screenshot || o->record || live->camera;
    live->saves_last = !kept && (!o->headless || (o->frames == 0 && endless));
    if (!live->info->live)
        live->depth = 2; // latency does not matter: upload, kernels and download overlap
}

bool live_open_device(struct live *live, int index)
{
    if (index < 0)
        return false;
    if (live->device[index])
        return true;
    struct device_gl gl = {0};
    if (live->window) {
        const struct window_native native = window_native(live->window);
        gl = (struct device_gl){native.glx_context, native.glx_display, native.egl_context, native.egl_display};
    }
    live->device[index] = device_open(&live->device_info[index], &gl, live->options.kernels);
    return live->device[index] != NULL;
}

// Returns the default device: the first one that opens and that can share with the window's GL if the path does so.
// After the first device that cannot share, tries only GPUs. If none can share, returns the first device that opened.
// -1: none.
static int preferred_device(struct live *live)
{
    int found = -1;
    for (int i = 0; i < live->devices; i++) {
        const bool wanted = found < 0 || live->device_info[i].type & CL_DEVICE_TYPE_GPU;
        if (!wanted || !live_open_device(live, i))
            continue;
        if (!live->window || !path_kind_info(live->wish.kind)->shares_gl || live->device[i]->shares_gl)
            return i;
        found = found < 0 ? i : found;
    }
    return found;
}

// Chooses the device that the user named (not opened yet), or the preferred one. False if no device has that name
// (logged).
static bool pick_device(struct live *live)
{
    struct wish *wish = &live->wish;
    const char *name = live->options.device;
    if (name && name[0]) {
        wish->device = device_choose(live->device_info, live->devices, name);
        return wish->device >= 0;
    }
    wish->device = path_kind_info(wish->kind)->needs_device ? preferred_device(live) : 0;
    return true;
}

static bool choose_device(struct live *live)
{
    const struct live_options *o = &live->options;
    struct wish *wish = &live->wish;
    const bool needed = path_kind_info(wish->kind)->needs_device;
    const char *why = NULL;
    wish->device = -1;
    if (!needed && !live->window)
        return true;
    live->devices = device_list(live->device_info, &why);
    if (live->devices > 0) {
        if (!pick_device(live))
            return false;
        if (!needed || live_open_device(live, wish->device))
            return true;
        why = "none can be opened";
        wish->device = -1;
    }
    if (!needed)
        return true;
    if ((o->device && o->device[0]) || !path_kind_info(wish->kind)->steps_down) {
        log_error("there is no OpenCL device: %s; the cpu path (-p cpu) works without one", why);
        return false;
    }
    log_warn("there is no OpenCL device: %s; using the cpu path", why);
    wish->kind = PATH_CPU;
    return true;
}

// Closes the devices before the window, whose GL context they share. No source may still use the memory of a device.
static void close_screen(struct live *live)
{
    for (int i = 0; i < live->devices; i++) {
        device_close(live->device[i]);
        live->device[i] = NULL;
    }
    renderer_close(live->renderer);
    live->renderer = NULL;
    window_close(live->window);
    live->window = NULL;
}

// Returns the device that shall write the window's textures; NULL: none.
static const struct device *zerocopy_device(const struct live *live)
{
    const bool wanted = live->window && path_kind_info(live->wish.kind)->shares_gl && live->wish.device >= 0;
    return wanted ? live->device[live->wish.device] : NULL;
}

// Opens the window and the device. Most drivers share textures over GLX or over EGL, but not over both. If a GPU does
// not share over GLX, tries a window over EGL; if that fails, too, opens the first window again.
static bool open_screen_and_device(struct live *live)
{
    if (!open_screen(live, false) || !choose_device(live))
        return false;
    const struct device *device = zerocopy_device(live);
    if (!device || device->shares_gl || device->info.host_unified || !window_native(live->window).glx_context)
        return true;
    log_info("no GL sharing over GLX (%s); trying EGL", device->sharing_why);
    close_screen(live);
    if (open_screen(live, true) && live->window && pick_device(live) && live_open_device(live, live->wish.device) &&
        zerocopy_device(live)->shares_gl)
        return true;
    close_screen(live);
    return open_screen(live, false) && choose_device(live);
}

// Shows a message while the first path is being built.
static void say_building(struct live *live)
{
    const struct window_size size = window_size(live->window);
    const struct scene scene = {.overlay = &live->overlay};
    live_note(live, false, 0, "building the filters");
    live_fill_overlay(live);
    renderer_draw(live->renderer, &scene, &size);
    window_swap(live->window);
    live->note.text[0] = '\0';
    live->redraw = false;
}

// Builds the main lane's path. Compiling may take seconds, so the builder does it while the window handles events. The
// user may quit (live->quit).
static bool build_path(struct live *live, char **error)
{
    bool ok = false;
    if (!live->window || !path_kind_info(live->wish.kind)->needs_device)
        return lane_open(live, LANE_MAIN, error);
    live->redraw = true;
    lane_ask(live, LANE_MAIN);
    while (!live->quit && !lane_asked(live, LANE_MAIN, &ok, error)) {
        if (live->redraw)
            say_building(live);
        clock_sleep_until_ns(clock_now_ns() + BUILD_WAIT_NS);
        live_handle_quit(live);
    }
    return ok;
}

// Builds the first path. The first build of a device's kernels may take seconds. In a window the cpu path therefore
// shows the first frames, with the same bytes, while the builder works. Exception: the user gave both --path and
// --frames.
static bool open_path(struct live *live)
{
    const enum path_kind kind = live->wish.kind;
    const bool counted = live->options.path >= 0 && live->options.frames > 0;
    const bool cpu_first = live->window && path_kind_info(kind)->needs_device && !counted;
    if (cpu_first)
        live->wish.kind = PATH_CPU;
    char *error = NULL;
    bool ok = build_path(live, &error);
    if (!ok && live->options.path < 0 && live->wish.kind != PATH_CPU) {
        log_warn("cannot build the %s path; using the cpu path: %s", path_kind_name(kind), error ? error : "see above");
        free(error);
        error = NULL;
        live->wish.kind = PATH_CPU;
        ok = lane_open(live, LANE_MAIN, &error);
    }
    if (!ok && !live->quit)
        log_error("cannot build the %s path: %s", path_kind_name(live->wish.kind), error ? error : "see above");
    free(error);
    if (cpu_first) {
        live->wish.kind = kind;
        lanes_changed(live, false);
        live->awaited = live->options.path >= 0;
    }
    return ok;
}

// Runs a blank frame through the path: some drivers finish compiling when a kernel first runs.
static bool warm_up(struct live *live)
{
    struct frame blank = {0};
    if (!image_alloc(&blank.image, &live->info->shape)) {
        log_error("cannot start: out of memory");
        return false;
    }
    memset(blank.image.memory, 0, image_bytes(&live->info->shape));
    struct frame done;
    meter_begin(&live->meter);
    const bool ok = lanes_submit(live, &blank) && lanes_collect(live, &done);
    live->flights = 0;
    live->lane[LANE_MAIN].has_result = false;
    meter_forget(&live->meter);
    image_free(&blank.image);
    return ok;
}

bool live_open_path(struct live *live)
{
    return open_path(live) && warm_up(live);
}

static bool open_recording(struct live *live)
{
    return !live->options.record || recorder_open(&live->recorder, live->options.record, live->info);
}

static bool open_builder(struct live *live)
{
    return !live->window || (live->builder = builder_open()) != NULL;
}

static bool open_helpers(struct live *live)
{
    if (live->window)
        live_note(live, false, HINT_S, "press h for the keys, o for more figures");
    if (live->window && live->options.kernels && !(live->watch = watch_open(live->options.kernels)))
        return false;
    live->meter.trace = live->trace;
    live->capture = capture_start(live->source, live->trace);
    return live->capture != NULL;
}

static void fill_wish(struct live *live)
{
    const struct live_options *o = &live->options;
    live->wish = (struct wish){
        .chain = o->chain,
        .kind = o->path >= 0 ? (enum path_kind)o->path : PATH_DEFAULT,
        .divider = 0.5f,
        .vsync = o->vsync != 1,
        .fullscreen = o->fullscreen,
        .overlay = o->overlay >= 0 ? (enum overlay_size)o->overlay : OVERLAY_SMALL,
    };
    live->keys = o->key_map;
    live_name_digits(live);
}

bool live_setup(struct live *live)
{
    fill_wish(live);
    live->code = outputs_check_files(&live->options);
    bool ok = live->code == EXIT_OK && open_source(live) && open_trace(live) && live_camera_open(live) &&
              open_screen_and_device(live);
    if (ok)
        set_limits(live);
    ok = ok && (!live->saves_last || output_new_possible()) && open_builder(live) && live_open_path(live) &&
         open_recording(live) && open_helpers(live);
    if (!ok && !live->quit && live->code != EXIT_USAGE)
        live->code = EXIT_NOTHING;
    return ok;
}

bool live_teardown(struct live *live)
{
    recorder_close(&live->recorder);
    camera_output_close(live->camera);
    if (!capture_stop(live->capture))
        return false;
    trace_close(live->trace);
    if (!builder_close(live->builder, CLOSE_PATIENCE_MS) || window_lost(live->window))
        return false;
    for (int i = 0; i < LANES; i++)
        lane_close(live, i);
    for (int i = 0; i < live->flights; i++)
        source_return(live->source, &live->flight[i]);
    if (live->has_current)
        source_return(live->source, &live->current);
    source_close(live->source);
    close_screen(live);
    live_free_controls(live);
    watch_close(live->watch);
    image_free(&live->readback);
    return true;
}
