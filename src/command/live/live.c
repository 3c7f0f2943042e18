// live.c: the `live` command: shows and reports the frames of its stream
#include "base/alloc.h"

#include "base/clock.h"
#include "base/file.h"
#include "base/log.h"
#include "base/text.h"
#include "command/live/report.h"
#include "command/live/session.h"
#include "command/live/view.h"
#include "command/page.h"
#include "control/control.h"
#include "image/imagefile.h"
#include "screen/renderer.h"

#include <errno.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

enum { IDLE_MS = 8, HEADLESS_WAIT_MS = 100 }; // longest delay of keys and signals while no frame arrives
static const int64_t progress_ns = NS_PER_S, redraw_ns = NS_PER_S / 5;

static void report_progress(struct session *s)
{
    const int64_t now = clock_now_ns();
    if (!s->stream.window && !s->options.json)
        status_line_tick(&s->status_line, "%llu frames, %.1f fps", (unsigned long long)s->stream.meter.frames,
                         meter_fps(&s->stream.meter));
    if (now - s->reported_ns < progress_ns)
        return;
    s->reported_ns = now;
    report_state(&s->report, "progress", session_status(s));
}

// `meter` is for view_draw.
static void draw(struct session *s, struct meter *meter)
{
    s->drawn_ns = view_draw(s->view, session_status(s), meter);
    s->redraw = false;
}

static int64_t show(void *context, const struct frame *frame, bool again)
{
    struct session *s = context;
    const bool window = s->stream.window != NULL;
    if (window && !view_upload(s->view, s->stream.panes, &s->stream.meter))
        s->stream.code = EXIT_FAILED_SOME;
    if (!again)
        truth_add(&s->truth, frame->number);
    if (s->save.due)
        events_save_picture(s);
    if (!window)
        return clock_now_ns();
    draw(s, &s->stream.meter);
    return s->drawn_ns;
}

static bool stale(const struct session *s)
{
    return s->stream.window && (s->redraw || clock_now_ns() - s->drawn_ns > redraw_ns);
}

// Compiling may take seconds: the window shows a message, the control socket answers, and the user may quit.
static void building(void *context)
{
    struct session *s = context;
    if (stale(s)) {
        note_set(&s->stream.note, false, 0, "building the filters");
        draw(s, NULL);
        note_clear(&s->stream.note, false);
    }
    events_handle(s, true);
    if (!s->stream.quit)
        control_serve(s->control);
}

static void changed(void *context)
{
    struct session *s = context;
    s->redraw = true;
    report_state(&s->report, "state", session_status(s));
}

static void reshaped(void *context)
{
    struct session *s = context;
    s->redraw = true;
    report_reshaped(&s->report, session_status(s));
}

static void handle_events(void *context)
{
    events_handle(context, false);
}

static void wait_for(void *context, int fd, int64_t timeout_ns)
{
    const struct session *s = context;
    control_wait(s->control, fd, timeout_ns);
}

static void closing(void *context)
{
    struct session *s = context;
    if (s->stream.window)
        view_keep(s->view, s->stream.panes);
}

static bool allows(void *context, const struct source *source)
{
    const struct session *s = context;
    return output_files_spare(&s->options.outputs, source);
}

static void arrived(void *context)
{
    struct session *s = context;
    char title[300];
    s->controls.adjusted = (struct source_control){0};
    s->controls.listed_ns = 0;
    session_limit(s);
    snprintf(title, sizeof(title), "monocle: %s", s->stream.playback.info->name);
    if (s->stream.window)
        window_set_title(s->stream.window, title);
}

static const char *look(void *context)
{
    struct session *s = context;
    const struct look *found = looks_with(&s->looks, &s->stream.settings.chain);
    return found ? found->name : NULL;
}

const struct stream_client live_client = {.show = show,
                                          .changed = changed,
                                          .events = handle_events,
                                          .wait = wait_for,
                                          .building = building,
                                          .closing = closing,
                                          .allows = allows,
                                          .arrived = arrived,
                                          .reshaped = reshaped,
                                          .look = look};

// Returns true when the run must end. A run that reports to a closed pipe is pointless, so it ends.
static bool finished(const struct session *s)
{
    return report_broken(&s->report) || stream_finished(&s->stream);
}

static void run_frames(struct session *s)
{
    for (events_handle(s, false); !finished(s); events_handle(s, false)) {
        showcase_step(s);
        lists_step(s);
        const bool hurried = s->stream.window && s->redraw;
        const int wait_ms = s->stream.setup.driven ? IDLE_MS : HEADLESS_WAIT_MS;
        if (stream_step(&s->stream, hurried ? 0 : wait_ms) == STREAM_IDLE && stale(s))
            draw(s, NULL);
        events_picture_saved(s, false);
        report_progress(s);
    }
    if (s->save.due)
        log_error("cannot save a screenshot: the run ended before the first frame");
}

// Returns false if the last frame cannot be written (logged).
static bool save_last(struct session *s)
{
    const struct image *picture = s->save.last ? stream_picture(&s->stream) : NULL;
    if (!picture)
        return true;
    char name[OUTPUT_NAME];
    if (!output_save_last(picture, s->stream.playback.source, source_change_text(&s->stream.change),
                          s->stream.shown_file, name))
        return false;
    log_print_line(stderr, "monocle: ran %llu frame%s of %s without a window; the last frame is %s",
                   (unsigned long long)s->stream.meter.frames, s->stream.meter.frames == 1 ? "" : "s",
                   s->stream.playback.info->name, name);
    return true;
}

// Completes the outputs; sets the exit code if one fails.
static void finish_outputs(struct session *s)
{
    events_picture_saved(s, true);
    stream_complete(&s->stream);
    const bool saved = save_last(s), truth = truth_close(&s->truth);
    if ((!saved || !truth) && s->stream.code == EXIT_OK)
        s->stream.code = EXIT_FAILED_SOME;
}

// ---- --stages: the image after each filter of the first frame ----

enum { RUNS = 15, WAIT_MS = 100 };

// Runs the held frame through the filters that the settings show. False on failure (logged), or at a signal.
static bool run_filters(struct session *s)
{
    struct panes *panes = s->stream.panes;
    panes_changed(panes, false);
    while (panes_busy(panes) && !process_interrupted()) {
        panes_update(panes);
        clock_sleep_until_ns(clock_now_ns() + 1000000);
    }
    meter_forget(&s->stream.meter);
    for (int i = 0; i < RUNS && !process_interrupted(); i++) {
        if (!panes_submit_again(panes) || !panes_collect(panes))
            return false;
        meter_shown_again(&s->stream.meter);
    }
    return !process_interrupted();
}

// Returns the passes of the last run with their median times.
static json_t *times_json(const struct meter *meter)
{
    json_t *passes = json_array();
    for (int i = 0; i < meter->shown_stages; i++) {
        const struct meter_stage *stage = &meter->stage[meter->shown_stage[i]];
        if (strncmp(stage->name, "pass ", 5) != 0)
            continue;
        const double ms = meter_late_ms(&stage->ms, 50);
        json_array_append_new(passes, json_pack("{s:s,s:f}", "name", stage->name + 5, "ms", ms));
    }
    return passes;
}

// Saves the image after the first `count` filters. Returns its row of the page; NULL on failure (logged), or at a
// signal.
static json_t *stage_run(struct session *s, int count)
{
    const struct chain *chain = &s->stream.settings.chain;
    const struct filter *filter = count > 0 ? chain->stage[count - 1].filter : NULL;
    const char *name = filter ? filter->name : "original";
    char path[PATH_MAX], file[96], text[CHAIN_TEXT] = "";
    const struct meter *meter = &s->stream.meter;
    s->stream.settings.show = count;
    const struct image *image = run_filters(s) ? stream_picture(&s->stream) : NULL;
    snprintf(file, sizeof(file), "%d-%.64s.png", count, name);
    if (!image || snprintf(path, sizeof(path), "%s/%s", s->options.stages, file) >= (int)sizeof(path) ||
        !imagefile_write_png(path, image, NULL))
        return NULL;
    if (filter)
        chain_print(&(struct chain){.stage = {chain->stage[count - 1]}, .count = 1}, text);
    return json_pack("{s:s,s:o,s:o,s:s,s:i,s:i,s:f,s:o}", "filter", name, "text", text_json(text), "summary",
                     text_json(filter ? filter->summary : "the frame of the source"), "file", file, "width",
                     image->shape.width, "height", image->shape.height, "ms", meter_passes_ms(meter), "passes",
                     times_json(meter));
}

// Makes the directory, and the claim of its page. False on failure (logged).
static bool make_directory(const char *directory, struct claim *claim)
{
    char path[PATH_MAX];
    if (mkdir(directory, 0777) == 0 && snprintf(path, sizeof(path), "%s/index.html", directory) < (int)sizeof(path) &&
        claim_take(claim, path))
        return true;
    const int error = errno;
    log_error("--stages: cannot make the directory %s: %s%s", directory, strerror(error),
              text_if(error == EEXIST, "; name a new one"));
    errno = error;
    return false;
}

// Runs the first frame of the source through the first filters of the chain, one more each time. Saves the images and
// the page of --stages. False on failure (logged), or if a signal arrives.
static bool run_stages(struct session *s)
{
    struct claim claim;
    char chain[CHAIN_TEXT];
    const int count = s->stream.settings.chain.count;
    if (!make_directory(s->options.stages, &claim)) {
        s->stream.code = errno == EEXIST ? EXIT_USAGE : EXIT_NOTHING;
        return false;
    }
    while (!stream_finished(&s->stream) && stream_step(&s->stream, WAIT_MS) != STREAM_SHOWN)
        ;
    bool ok = s->stream.meter.frames > 0;
    json_t *rows = json_array();
    for (int i = 0; ok && i <= count; i++)
        ok = json_array_append_new(rows, stage_run(s, i)) == 0;
    s->stream.settings.show = -1;
    chain_print(&s->stream.settings.chain, chain);
    const struct status *status = session_status(s);
    json_t *page = json_pack("{s:o,s:o,s:s,s:o,s:i,s:o}", "source", text_json(s->stream.playback.info->name), "chain",
                             text_json(chain), "path", status->pane.words, "device", text_json(status->pane.device),
                             "runs", RUNS, "stages", rows);
    ok = ok && page_write(&claim, "assets/stages.html", page);
    json_decref(page);
    if (ok)
        log_print_line(stderr, "monocle: %d images and their times are in %s", count + 1, claim.path);
    return ok;
}

// ---- the command ----

// Returns the exit code.
static int run(struct session *s)
{
    report_open(&s->report, s->options.json, s->options.outputs.on_stdout ? stderr : stdout);
    if (session_open(s)) {
        report_start(&s->report, session_status(s));
        s->reported_ns = clock_now_ns();
        if (!s->options.stages)
            run_frames(s);
        else if (!run_stages(s) && s->stream.code == EXIT_OK)
            s->stream.code = EXIT_FAILED_SOME;
        status_line_end(&s->status_line);
        finish_outputs(s);
        if (s->options.json || s->stream.meter.frames > 0 || s->stream.code < EXIT_NOTHING) // else an error was logged
            report_summary(&s->report, session_status(s));
    }
    const bool closed = session_close(s);
    report_close(&s->report);
    return closed ? (int)s->stream.code : (int)s->stream.code | EXIT_AT_ONCE;
}

int live_main(int argc, char **argv)
{
    struct session *s = xalloc(sizeof(*s));
    int code;
    char error[400] = "";
    log_keep_error(error, sizeof(error));
    if (live_parse(&s->options, argc, argv, &code))
        code = run(s);
    log_keep_error(NULL, 0);
    const bool started = s->drawn_ns > 0 || (code & EXIT_AT_ONCE) || process_interrupted();
    if (s->options.error_window && !started && code != EXIT_OK && error[0])
        error_window_show(error);
    if (!(code & EXIT_AT_ONCE)) { // with EXIT_AT_ONCE another thread may still use the session
        options_file_free(&s->options.config);
        free(s);
    }
    return code;
}
