// loop.c: takes frames, runs them through the lanes, shows and records them
#include "command/live/live.h"

#include "base/clock.h"
#include "base/log.h"

#include <stdio.h>
#include <string.h>

enum { IDLE_MS = 8, HEADLESS_WAIT_MS = 100 }; // longest delay of keys and signals while no frame arrives
enum { STALL_S = 1 };                         // how long the message stays after the last dropped frame
enum { READY_NS = 500000 };                   // how often a frame in flight is polled while the builder works
static const int64_t progress_ns = 1000000000, redraw_ns = 200000000;

bool live_is_still(const struct live *live)
{
    return live->info->still && !live->options.loop;
}

// Returns true when the run must end. A run that reports to a closed pipe is pointless, so it ends. A still image stays
// on the screen until the user quits.
static bool finished(const struct live *live)
{
    const bool still = live->window && live->limit == 0 && live_is_still(live);
    return live->quit || live->mute || live->code >= EXIT_NOTHING || command_interrupted() != 0 ||
           (live->limit > 0 && live->meter.frames >= live->limit) || (live->ended && live->flights == 0 && !still);
}

static void progress(struct live *live)
{
    const int64_t now = clock_now_ns();
    if (now - live->reported_ns < progress_ns)
        return;
    live->reported_ns = now;
    report_state(live, "progress");
}

// Takes the newest frame. False if none arrives in time, or if the source has ended or changed its shape.
static bool take(struct live *live, struct frame *frame, int timeout_ms)
{
    if (live->ended || live->reshaped || (live->limit > 0 && live->taken >= live->limit))
        return false;
    const enum source_status status = capture_take(live->capture, frame, timeout_ms);
    if (status == SOURCE_FRAME) {
        live->taken++;
        return true;
    }
    live->reshaped = status == SOURCE_RESHAPED;
    if (status == SOURCE_TIMEOUT || status == SOURCE_RESHAPED)
        return false;
    live->ended = true;
    if (status == SOURCE_FAILED)
        live->code = EXIT_FAILED_SOME;
    return false;
}

// Measures how long the source needed to fill the frame, and how long the frame then waited in the mailbox. The capture
// thread writes the first to the trace; the second is a gap there.
static void measure_arrival(struct live *live, const struct frame *frame, int64_t taken_ns)
{
    meter_begin(&live->meter);
    const int64_t arrived_ns = frame->decode_ns ? frame->decode_ns : frame->ready_ns;
    meter_host(&live->meter, NULL, "capture", frame->captured_ns, arrived_ns, frame->number);
    if (frame->decode_ns)
        meter_host(&live->meter, NULL, "decode", frame->decode_ns, frame->ready_ns, frame->number);
    meter_host(&live->meter, NULL, "wait", frame->ready_ns, taken_ns, frame->number);
}

static void record(struct live *live, uint64_t number)
{
    if (!live->recorder.writer)
        return;
    const int64_t start = clock_now_ns();
    const struct image *picture = lane_picture(live);
    const uint64_t left_out = live->recorder.left_out;
    if (picture && recorder_add(&live->recorder, picture, !live->window)) {
        if (live->recorder.left_out > left_out)
            live_note(live, true, STALL_S, "the reader of %s has stalled: %llu frames dropped", live->recorder.name,
                      (unsigned long long)live->recorder.left_out);
    } else {
        live_note(live, true, 0, "recording to %s stopped after %llu frames", live->recorder.name,
                  (unsigned long long)live->recorder.frames);
        recorder_close(&live->recorder);
        if (!command_interrupted()) // a signal ends the wait for a stalled reader
            live->code = EXIT_FAILED_SOME;
        live->quit = !live->window;
    }
    meter_host(&live->meter, "main", "record", start, clock_now_ns(), number);
}

static void save_due(struct live *live)
{
    if (live->save_due)
        live_save_picture(live);
}

static void upload_textures(struct live *live, uint64_t number)
{
    for (int i = 0; i < LANES; i++) {
        struct lane *lane = &live->lane[i];
        lane->texture = lane->has_result ? lane->result.texture : 0;
        if (!lane->has_result || lane->texture)
            continue;
        const int64_t start = clock_now_ns();
        lane->texture = renderer_upload(live->renderer, i, &lane->result.image);
        if (!lane->texture)
            live->code = EXIT_FAILED_SOME;
        meter_host(&live->meter, "main", i == LANE_MAIN ? "texture upload" : "texture upload 2", start, clock_now_ns(),
                   number);
    }
}

static struct scene compose(const struct live *live)
{
    const struct lane *lane = &live->lane[LANE_MAIN];
    const struct lane *other = &live->lane[LANE_OTHER];
    const struct overlay *overlay = &live->overlay;
    const bool silent = overlay->size == OVERLAY_OFF && !overlay->help && !overlay->message_is_trouble;
    struct scene scene = {
        .texture = lane->texture,
        .width = lane->result.width,
        .height = lane->result.height,
        .divider = live->wish.divider,
        .overlay = silent ? NULL : overlay,
    };
    if (live->wish.split != SPLIT_OFF && other->shows == live->wish.split && other->texture) {
        const bool original = live->wish.split == SPLIT_ORIGINAL; // the original is on the left
        scene.texture = original ? other->texture : lane->texture;
        scene.right_texture = original ? lane->texture : other->texture;
    }
    return scene;
}

// Draws and swaps. Measures the drawing unless `frame` is NULL (a redraw). `again`: the frame was shown before, so its
// age and interval do not count.
static void draw(struct live *live, const struct frame *frame, bool again)
{
    live_fill_overlay(live);
    const struct scene scene = compose(live);
    const struct window_size size = window_size(live->window);
    const int64_t start = clock_now_ns();
    renderer_draw(live->renderer, &scene, &size);
    const int64_t drawn = clock_now_ns();
    window_swap(live->window);
    live->drawn_ns = clock_now_ns();
    live->redraw = false;
    if (!frame)
        return;
    meter_host(&live->meter, "main", "draw", start, drawn, frame->number);
    const int64_t gpu_ns = renderer_gpu_ns(live->renderer);
    if (gpu_ns >= 0) {
        const struct stage_time gpu = {.name = "draw on gpu", .clock = STAGE_DEVICE, .end_ns = gpu_ns};
        meter_add(&live->meter, NULL, NULL, &gpu, frame->number);
    }
    meter_host(&live->meter, "main", "swap", drawn, live->drawn_ns, frame->number);
    if (again)
        meter_shown_again(&live->meter);
    else
        meter_shown(&live->meter, frame->captured_ns, live->drawn_ns);
}

// Runs a frame through the lanes. A driver that compiles may delay kernels that are ready (PoCL does), so keys and
// signals are handled while the builder works. False if no path works, or the user quits.
static bool run_lanes(struct live *live, const struct frame *taken, struct frame *frame)
{
    if (!lanes_submit(live, taken))
        return false;
    while (lanes_building(live) && !lanes_ready(live)) {
        live_handle_events(live);
        if (finished(live))
            return false;
        clock_sleep_until_ns(clock_now_ns() + READY_NS);
    }
    return lanes_collect(live, frame);
}

// Shows a frame. It is kept as live->current until the next one is shown.
static void show_frame(struct live *live, const struct frame *taken)
{
    struct frame frame;
    measure_arrival(live, taken, clock_now_ns());
    if (!run_lanes(live, taken, &frame))
        return;
    upload_textures(live, frame.number);
    record(live, frame.number);
    save_due(live);
    live_camera_feed(live, frame.number);
    draw(live, &frame, false);
    if (live->has_current)
        source_return(live->source, &live->current);
    live->current = frame;
    live->has_current = true;
    live->rerun = false;
}

// Shows the current frame again, through a new chain or path.
static void show_again(struct live *live)
{
    struct frame frame;
    live->rerun = false;
    meter_begin(&live->meter);
    if (!live->has_current)
        return;
    live->has_current = false;
    if (!run_lanes(live, &live->current, &frame))
        return;
    live->current = frame;
    live->has_current = true;
    upload_textures(live, frame.number);
    save_due(live);
    live_camera_feed(live, frame.number);
    draw(live, &frame, true);
}

static void watch_kernels(struct live *live)
{
    if (watch_changed(live->watch)) {
        log_info("kernel files changed: rebuilding");
        lanes_changed(live, true);
    }
}

void live_loop_window(struct live *live)
{
    for (live_handle_events(live); !finished(live); live_handle_events(live)) {
        struct frame frame;
        watch_kernels(live);
        lanes_update(live);
        if (live->reshaped && !live->wish.frozen)
            live_reshape(live);
        const bool still = live->wish.frozen || live->ended;
        if (!still && take(live, &frame, live->rerun || live->redraw ? 0 : IDLE_MS))
            show_frame(live, &frame);
        else if (live->rerun)
            show_again(live);
        else if (live->redraw || clock_now_ns() - live->drawn_ns > redraw_ns)
            draw(live, NULL, false);
        else if (still)
            clock_sleep_until_ns(clock_now_ns() + IDLE_MS * 1000000);
        progress(live);
    }
    if (live->save_due)
        log_error("cannot save a screenshot: the run ended before the first frame");
}

// Submits one frame if it can, else collects the oldest one.
static void headless_step(struct live *live)
{
    struct frame frame;
    const int timeout_ms = live->flights > 0 ? 0 : HEADLESS_WAIT_MS;
    if (live->flights < live->depth && take(live, &frame, timeout_ms)) {
        live->arrived_ns[live->flights] = clock_now_ns();
        lanes_submit(live, &frame);
        return;
    }
    if (live->flights == 0) {
        if (live->reshaped)
            live_reshape(live);
        return;
    }
    measure_arrival(live, &live->flight[0], live->arrived_ns[0]);
    memmove(&live->arrived_ns[0], &live->arrived_ns[1], sizeof(live->arrived_ns) - sizeof(live->arrived_ns[0]));
    if (!lanes_collect(live, &frame))
        return;
    record(live, frame.number);
    live_camera_feed(live, frame.number);
    meter_shown(&live->meter, frame.captured_ns, clock_now_ns());
    source_return(live->source, &frame);
}

void live_loop_headless(struct live *live)
{
    while (!finished(live)) {
        headless_step(live);
        progress(live);
    }
}
