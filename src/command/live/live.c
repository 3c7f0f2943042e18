// live.c: the `live` command: takes frames from the source, runs them through the lanes, shows and records them
#include "base/clock.h"
#include "base/log.h"
#include "base/workers.h"
#include "command/edited.h"
#include "command/live/control.h"
#include "command/live/events.h"
#include "command/live/playback.h"
#include "command/live/session.h"
#include "filter/user_filters.h"
#include "image/imagefile.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { IDLE_MS = 8, HEADLESS_WAIT_MS = 100 }; // longest delay of keys and signals while no frame arrives
enum { READY_NS = 500000 };                   // how often a frame in flight is polled while a path is being built
enum { RESHAPED_S = 6 };
static const int64_t progress_ns = 1000000000, redraw_ns = 200000000;
static const int64_t doubtful_ns = 10000000000; // the longest time of the last frame of a damaged film

// Returns true when the run must end. A run that reports to a closed pipe is pointless, so it ends. A still image, or
// the last frame of a paused video, stays on the screen until the user quits.
static bool finished(const struct session *s)
{
    const bool paused = s->wish.paused && s->info->frame_s > 0; // the user may seek back
    const bool stays = s->driven && s->limit == 0 && (s->still || paused);
    return s->quit || report_broken(&s->report) || s->code >= EXIT_NOTHING || process_interrupted() != 0 ||
           (s->limit > 0 && s->meter.frames >= s->limit) ||
           (s->ended && lanes_in_flight(s->lanes) == 0 && !stays && !source_change_busy(&s->change));
}

// Reports what changed in the lanes by itself. `ok` false: no path works any more.
static void report_news(struct session *s, bool ok)
{
    s->code = ok ? s->code : EXIT_DEVICE;
    const enum lanes_news news = lanes_take_news(s->lanes);
    if (news == LANES_UNCHANGED)
        return;
    if (news == LANES_FAILED)
        s->code = EXIT_NOTHING;
    s->redraw = s->capture_due = true;
    report_state(&s->report, "state", status_read(s));
}

static void report_progress(struct session *s)
{
    const int64_t now = clock_now_ns();
    if (!s->window && !s->options.json)
        status_line_tick(&s->status_line, "%llu frames, %.1f fps", (unsigned long long)s->meter.frames,
                         meter_fps(&s->meter));
    if (now - s->reported_ns < progress_ns)
        return;
    s->reported_ns = now;
    report_state(&s->report, "progress", status_read(s));
}

// An output failed. A window stays open; a run without a window ends. A signal, too, ends the wait for a stalled
// reader.
static void output_failed(struct session *s)
{
    if (!process_interrupted())
        s->code = EXIT_FAILED_SOME;
    s->quit = s->quit || !s->window;
}

// Changes everything to the shape of the source's frames. The lanes must be closed. If the run cannot continue, sets
// the exit code (logged).
static void follow_shape(struct session *s)
{
    int width, height;
    s->redraw = s->capture_due = true;
    session_size(s, &width, &height);
    if (!outputs_resize(&s->outputs, width, height))
        output_failed(s);
    lanes_set_encode(s->lanes, outputs_camera_shape(&s->outputs));
    if (!s->quit && !session_open_path(s)) {
        s->code = s->quit ? s->code : EXIT_DEVICE;
        return;
    }
    if (s->window)
        lanes_changed(s->lanes, false); // for the second pane of the split view
    report_reshaped(&s->report, status_read(s));
}

// Carries out a change of the source. No frame may be in flight.
static void change_source(struct session *s)
{
    if (!source_change_step(s))
        return;
    follow_shape(s);
    if (s->quit || s->code >= EXIT_NOTHING)
        return;
    s->capture = capture_start(s->source, s->trace);
    s->code = s->capture ? s->code : EXIT_NOTHING;
}

// Follows the new shape of the source's frames. No frame may be in flight. If the run cannot continue, sets the exit
// code (logged).
static void reshape(struct session *s)
{
    const struct image_shape *shape = &s->info->shape;
    s->reshaped = false;
    lanes_close(s->lanes);
    if (!source_reshape(s->source)) {
        s->code = EXIT_NOTHING;
        return;
    }
    if (s->info->frame_s <= 0) // else the user knows that images have sizes
        note_set(&s->note, false, RESHAPED_S, "the camera now delivers %dx%d %s", shape->width, shape->height,
                 pixfmt_info(shape->format)->name);
    follow_shape(s);
    if (!s->quit && s->code < EXIT_NOTHING) // else no path is open, and no frame may arrive
        capture_resume(s->capture);
}

// Takes the newest frame and submits it. False if none arrives in time, or if the source has ended or changed its
// shape.
static bool submit_newest(struct session *s, int timeout_ms)
{
    struct frame frame;
    if (s->ended || s->reshaped || (s->limit > 0 && s->taken >= s->limit))
        return false;
    if (s->control) {
        control_wait(s, capture_event(s->capture), (int64_t)timeout_ms * 1000000);
        timeout_ms = 0;
    }
    const enum source_status status = capture_take(s->capture, &frame, timeout_ms);
    if (status == SOURCE_FRAME) {
        s->taken++;
        s->stepped = s->stepping ? s->taken : s->stepped;
        playback_arrived(s, &frame);
        if (s->online)
            online_pace(s->online, s->options.fast || s->info->rate <= 0 ? 0 : 1000 / s->info->rate, status_skipped(s));
        report_news(s, lanes_submit(s->lanes, &frame, clock_now_ns()));
        return true;
    }
    s->reshaped = status == SOURCE_RESHAPED;
    s->ended = status != SOURCE_TIMEOUT && status != SOURCE_RESHAPED;
    if (status == SOURCE_END && s->stepping)
        playback_pause(s, true); // a seek beyond an unknown end: the frame on the screen stays
    if (s->ended)
        playback_arrived(s, NULL);
    if (status == SOURCE_FAILED)
        s->code = EXIT_FAILED_SOME;
    return false;
}

// Takes the oldest frame in flight. A driver that compiles may delay kernels that are ready (PoCL does), so keys and
// signals are handled while a path is being built. The control socket is served also while a device filters. NULL if no
// path works, or the user quits.
static const struct frame *collect(struct session *s)
{
    if (s->code >= EXIT_NOTHING)
        return NULL;
    while ((s->control || lanes_building(s->lanes)) && !lanes_ready(s->lanes)) {
        events_handle(s, false);
        if (finished(s))
            return NULL;
        control_wait(s, -1, READY_NS);
    }
    const struct frame *frame = lanes_collect(s->lanes);
    report_news(s, frame != NULL);
    return frame;
}

// `meter` is for view_draw.
static void draw(struct session *s, struct meter *meter)
{
    s->drawn_ns = view_draw(s->view, status_read(s), meter);
    s->redraw = false;
}

// Writes the chain and the frame that it has run on to the directory of --capture. Waits until no path is being built,
// because the cpu path may run until then.
static void capture_work(struct session *s, const struct frame *frame)
{
    struct lane_facts facts;
    if (!s->capture_due || lanes_building(s->lanes))
        return;
    s->capture_due = false;
    lanes_describe(s->lanes, LANE_MAIN, &facts);
    // A path that also converts its results has no parameters to tune.
    const bool tunable = strcmp(facts.device, "cpu") == 0 && !outputs_camera_shape(&s->outputs);
    const int threads = !tunable ? 0 : s->options.threads > 0 ? s->options.threads : workers_available();
    captures_add(&s->captures, facts.chain, facts.device, threads, facts.result->texture != 0, &frame->image);
}

// Collects a frame, writes it to the outputs, and shows it. `again`: it was shown before.
static void finish_frame(struct session *s, bool again)
{
    const bool window = s->window != NULL;
    const struct frame *frame = collect(s);
    if (!frame)
        return;
    capture_work(s, frame);
    if (window && !view_upload(s->view, s->lanes, &s->meter))
        s->code = EXIT_FAILED_SOME;
    if (!again && !truth_add(&s->truth, frame->number))
        output_failed(s);
    const struct path_result *result = lanes_result(s->lanes, LANE_MAIN);
    if (!outputs_resize(&s->outputs, result->width, result->height))
        output_failed(s);
    lanes_set_encode(s->lanes, outputs_camera_shape(&s->outputs));
    if (!again && !outputs_record(&s->outputs, s->lanes, frame, !window))
        output_failed(s);
    if (s->save_due)
        events_save_picture(s);
    if (!outputs_send(&s->outputs, s->lanes)) {
        lanes_set_encode(s->lanes, outputs_camera_shape(&s->outputs));
        output_failed(s);
    }
    if (window)
        draw(s, &s->meter);
    if (again)
        meter_shown_again(&s->meter);
    else
        meter_shown(&s->meter, frame->captured_ns, window ? s->drawn_ns : clock_now_ns());
    if (!s->driven)
        lanes_release(s->lanes); // else the frame may have to be filtered again
}

// Without a new frame: draws the window again if it is out of date.
static void idle(struct session *s)
{
    if (s->window && (s->redraw || clock_now_ns() - s->drawn_ns > redraw_ns))
        draw(s, NULL);
    else if (s->driven && (s->wish.paused || s->ended))
        control_wait(s, -1, IDLE_MS * 1000000);
}

static bool is_filter(const char *name, const void *context)
{
    const char *dot = name[0] != '.' ? strrchr(name, '.') : NULL;
    return dot && strcmp(dot, ".cl") == 0;
}

// Takes edited users' filters into the chain. If a file is refused, the chain runs on, and the window shows the reason.
static void reload_filters(struct session *s)
{
    char error[USER_ERROR];
    int stage, param;
    const bool changed = user_filters_reload(error);
    if (error[0])
        note_set(&s->note, true, 0, "%s", error);
    else if (!changed) // a refused file has its last text again
        note_clear(&s->note, true);
    s->redraw = true;
    report_state(&s->report, "state", status_read(s));
    if (!changed)
        return;
    log_info("users' filters changed: rebuilding");
    chain_renew(&s->wish.chain);
    if (!wish_selected(&s->wish, &stage, &param)) // the new filter has fewer parameters
        s->wish.selected = 0;
    lanes_changed(s->lanes, true);
}

// Closes the camera while no program reads the virtual camera (--on-demand).
static void follow_readers(struct session *s)
{
    if (!outputs_rest_changed(&s->outputs))
        return;
    source_rest(s->source, s->outputs.resting);
    report_state(&s->report, "state", status_read(s));
}

// Follows changes of the kernel files, users' filters, the wish and the source. No frame may be in flight.
static void follow_changes(struct session *s)
{
    if (devices_kernels_changed(&s->devices)) {
        log_info("kernel files changed: rebuilding");
        lanes_changed(s->lanes, true);
    }
    if (edited_any(s->filter_watch, is_filter, NULL))
        reload_filters(s);
    change_source(s); // before lanes_update starts a build: this waits for builds
    if (s->driven || s->filter_watch > 0)
        lanes_update(s->lanes);
    report_news(s, true);
    if (s->reshaped && (!s->wish.paused || s->stepping))
        reshape(s);
}

// Runs every frame from the capture through the lanes to the outputs and the screen. A window has one frame in flight;
// without a window there may be more, so that upload, kernels and download overlap.
static void run_frames(struct session *s)
{
    const bool window = s->window != NULL;
    for (events_handle(s, false); !finished(s); events_handle(s, false)) {
        showcase_step(s);
        follow_readers(s);
        if (!outputs_follow(&s->outputs, s->wish.paused))
            s->code = EXIT_FAILED_SOME;
        const int in_flight = lanes_in_flight(s->lanes);
        if (in_flight == 0)
            follow_changes(s);
        if (finished(s)) // then there may be no capture
            break;
        // The last frame is shown again if the lanes have changed and no new frame is there.
        bool again = lanes_rerun(s->lanes);
        const bool hurried = in_flight > 0 || again || (window && s->redraw);
        const int wait_ms = hurried ? 0 : s->driven ? IDLE_MS : HEADLESS_WAIT_MS;
        const bool submitted = in_flight < s->depth && (!s->wish.paused || s->stepping) && submit_newest(s, wait_ms);
        again = again && !submitted;
        if (again)
            report_news(s, lanes_submit_again(s->lanes));
        if (lanes_in_flight(s->lanes) == 0)
            idle(s);
        else if (!submitted || lanes_in_flight(s->lanes) == s->depth)
            finish_frame(s, again);
        report_progress(s);
    }
    if (s->save_due)
        log_error("cannot save a screenshot: the run ended before the first frame");
}

// Returns false if the last frame cannot be written (logged).
static bool save_last(struct session *s)
{
    const char *named = s->options.screenshot;
    if (!named && !s->saves_last)
        return true;
    const struct image *picture = lanes_picture(s->lanes);
    if (!picture && (!named || process_interrupted()))
        return true; // a signal ended the run before the first picture
    if (!picture) {
        log_error("cannot write the screenshot %s: %s", named,
                  window_lost(s->window) ? "the last frame, a texture, was lost with the display"
                                         : "the run ended before the first frame");
        return false;
    }
    if (named)
        return imagefile_write_claimed(&s->claims[OUTPUT_SCREENSHOT], picture);
    char name[OUTPUT_NAME];
    if (!output_save_last(picture, s->source, source_change_text(s), name))
        return false;
    fprintf(stderr, "monocle: ran %llu frame%s of %s without a window; the last frame is %s\n",
            (unsigned long long)s->meter.frames, s->meter.frames == 1 ? "" : "s", s->info->name, name);
    return true;
}

// Completes the recording and the screenshot; sets the exit code if one fails.
static void finish_outputs(struct session *s)
{
    const bool damaged = s->code != EXIT_OK || source_health(s->source).faulty;
    const int64_t rest_ns = !s->ended ? 0 : damaged ? doubtful_ns : INT64_MAX;
    if (!outputs_end_recording(&s->outputs, rest_ns) && s->code == EXIT_OK && !process_interrupted())
        s->code = EXIT_FAILED_SOME;
    if (s->meter.frames == 0 && s->ended && s->code == EXIT_OK) {
        log_error("the source %s has no frames", s->info->name);
        s->code = EXIT_NOTHING;
    }
    const bool saved = save_last(s), truth = truth_close(&s->truth);
    if ((!captures_close(&s->captures) || !saved || !truth) && s->code == EXIT_OK)
        s->code = EXIT_FAILED_SOME;
}

// Returns the exit code.
static int run(struct session *s)
{
    report_open(&s->report, &s->options);
    if (session_open(s)) {
        report_start(&s->report, status_read(s));
        s->reported_ns = clock_now_ns();
        run_frames(s);
        status_line_end(&s->status_line);
        finish_outputs(s);
        if (s->options.json || s->meter.frames > 0 || s->code < EXIT_NOTHING) // else an error was logged
            report_summary(&s->report, status_read(s));
    }
    const bool closed = session_close(s);
    report_close(&s->report);
    return closed ? (int)s->code : (int)s->code | EXIT_AT_ONCE;
}

static int live_main(int argc, char **argv)
{
    struct session *s = calloc(1, sizeof(*s));
    if (!s) {
        log_error("cannot start: out of memory");
        return EXIT_NOTHING;
    }
    int code;
    if (live_parse(&s->options, argc, argv, &code))
        code = run(s);
    if (!(code & EXIT_AT_ONCE)) { // with EXIT_AT_ONCE another thread may still use the session
        free(s->options.config.text);
        free(s);
    }
    return code;
}

const struct command live_command = {.list = &live_list, .run = live_main};
