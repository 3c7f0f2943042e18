// stream.c: takes frames from the source, runs them through the lanes and gives the results to the client
#include "stream/stream.h"

#include "base/clock.h"
#include "base/log.h"
#include "compute/gl_context.h"

#include <stdlib.h>

enum { NS_PER_MS = 1000000 };

// ---- open and close ----

// Opens a GL context if the path needs one and there is no window. False on failure (logged).
static bool open_gl(struct stream *s)
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

static void close_gl(struct stream *s)
{
    if (s->gl)
        gl_context_unbind(s->gl, false);
    gl_context_close(s->gl);
    s->gl = NULL;
}

bool stream_open(struct stream *s)
{
    if (!open_gl(s))
        return false;
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
        .depth = s->set.depth,
        .threads = s->set.threads,
    });
    return s->lanes != NULL;
}

bool stream_build(struct stream *s)
{
    char *error = NULL;
    while (!lanes_open(s->lanes, &error)) {
        const char *kind = path_kind_name(s->wish.kind), *why = error ? error : "see above";
        const bool last = s->set.kind_named || s->wish.kind == PATH_CPU;
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

bool stream_start(struct stream *s)
{
    s->capture = capture_start(s->source, s->trace);
    return s->capture != NULL;
}

bool stream_close(struct stream *s)
{
    if (!capture_stop(s->capture))
        return false;
    s->capture = NULL;
    if (!lanes_finish(s->lanes) || window_lost(s->window))
        return false;
    source_close(s->source);
    close_gl(s);
    devices_close(&s->devices);
    return true;
}

// ---- frames ----

bool stream_finished(const struct stream *s)
{
    return s->quit || s->code >= EXIT_NOTHING || process_interrupted() != 0 ||
           (s->set.limit > 0 && s->meter.frames >= s->set.limit) || (s->ended && lanes_in_flight(s->lanes) == 0);
}

// Reports what changed in the lanes by itself. `ok` false: no path works any more.
static void report_news(struct stream *s, bool ok)
{
    s->code = ok ? s->code : EXIT_DEVICE;
    const enum lanes_news news = lanes_take_news(s->lanes);
    if (news == LANES_UNCHANGED)
        return;
    if (news == LANES_FAILED)
        s->code = EXIT_NOTHING;
    if (s->set.client->changed)
        s->set.client->changed(s->set.context);
}

// Takes the newest frame and submits it. False if none arrives in time, or if the source has ended.
static bool submit_newest(struct stream *s, int timeout_ms)
{
    struct frame frame;
    if (s->ended || (s->set.limit > 0 && s->taken >= s->set.limit))
        return false;
    const enum source_status status = capture_take(s->capture, &frame, timeout_ms);
    if (status == SOURCE_FRAME) {
        s->taken++;
        report_news(s, lanes_submit(s->lanes, &frame, clock_now_ns()));
        return true;
    }
    if (status == SOURCE_RESHAPED)
        log_error("the source changed its frame size or format; start again");
    s->ended = status != SOURCE_TIMEOUT;
    if (status == SOURCE_FAILED || status == SOURCE_RESHAPED)
        s->code = EXIT_FAILED_SOME;
    return false;
}

// Collects the oldest frame in flight, and shows it. False if no path works any more.
static bool finish_frame(struct stream *s, bool again)
{
    if (s->code >= EXIT_NOTHING)
        return false;
    const struct frame *frame = lanes_collect(s->lanes);
    report_news(s, frame != NULL);
    if (!frame)
        return false;
    const int64_t shown_ns = s->set.client->show(s->set.context, frame, again);
    if (again)
        meter_shown_again(&s->meter);
    else
        meter_shown(&s->meter, frame->captured_ns, shown_ns);
    if (!s->set.driven)
        lanes_release(s->lanes); // else the frame may have to be filtered again
    return true;
}

enum stream_turn stream_step(struct stream *s, int wait_ms)
{
    const int in_flight = lanes_in_flight(s->lanes);
    bool again = lanes_rerun(s->lanes);
    const bool room = in_flight < s->set.depth && !s->wish.paused;
    const bool submitted = room && submit_newest(s, in_flight > 0 || again ? 0 : wait_ms);
    again = again && !submitted;
    if (again)
        report_news(s, lanes_submit_again(s->lanes));
    const int now = lanes_in_flight(s->lanes);
    if (now == 0 && (s->wish.paused || s->ended))
        clock_sleep_until_ns(clock_now_ns() + (int64_t)wait_ms * NS_PER_MS);
    if (now == 0)
        return STREAM_IDLE;
    return (!submitted || now == s->set.depth) && finish_frame(s, again) ? STREAM_SHOWN : STREAM_BUSY;
}

void stream_drain(struct stream *s)
{
    while (lanes_in_flight(s->lanes) > 0 && finish_frame(s, false))
        ;
}
