// loop.c: shows flashes and finds the camera frames that show them
#include "command/latency/latency.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "image/convert.h"
#include "stream/panes.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LEARN_ROUNDS = 3, LEARN_FRAMES = 5, IDLE_MS = 5, MISSED_MAX = 5, BASE_FRAMES = 3 };
static const int64_t settle_ns = 1200LL * NS_PER_MS; // assumed maximum delay from the screen to the camera's frame
static const int64_t learn_ns = 400LL * NS_PER_MS, lit_ns = 100LL * NS_PER_MS, patience_ns = 3000LL * NS_PER_MS;
static const int64_t dark_least_ns = 250LL * NS_PER_MS, dark_range_ns = 500LL * NS_PER_MS;

static bool stopped(struct latency *l)
{
    struct stream *s = &l->stream;
    struct window_event event;
    while (window_next_event(l->stream.window, &event)) {
        const bool key =
            event.type == WINDOW_KEY && (event.key == 'q' || event.us == 'q' || event.key == WINDOW_KEY_ESCAPE);
        s->quit = s->quit || key || event.type == WINDOW_CLOSE;
    }
    if (window_lost(s->window))
        s->code = EXIT_DEVICE;
    return s->quit || s->code != EXIT_OK || process_interrupted() != 0 || ferror(stdout); // main logs a broken stdout
}

// Draws the flash on the left and the camera's frame on the right. Returns the time after the buffer swap.
static int64_t draw(struct latency *l)
{
    const struct scene scene = {
        .texture = l->flash_texture,
        .width = l->stream.playback.info->shape.width,
        .height = l->stream.playback.info->shape.height,
        .right_texture = l->picture_texture,
        .divider = 0.5f,
    };
    const struct window_size size = window_size(l->stream.window);
    renderer_draw(l->renderer, &scene, &size);
    window_swap(l->stream.window);
    return clock_now_ns();
}

static int64_t set_flash(struct latency *l, bool light)
{
    memset(l->flash.plane[0], light ? 255 : 0, image_bytes(&l->flash.shape));
    l->flash_texture = renderer_upload(l->renderer, 1, &l->flash);
    return draw(l);
}

static bool fail(struct latency *l, enum exit_code code)
{
    l->stream.code = code;
    return false;
}

static int64_t show(void *context, const struct frame *frame, bool again)
{
    struct latency *l = context;
    const struct path_result *result = panes_result(l->stream.panes, PANE_MAIN);
    // The camera also sees the frame that the window shows. While the finder learns, the window shows no frames.
    if (!l->learning && !result->texture) {
        const int64_t start_ns = clock_now_ns();
        l->picture_texture = renderer_upload(l->renderer, 0, &result->image);
        meter_host(&l->stream.meter, NULL, "texture upload", start_ns, clock_now_ns());
    } else if (!l->learning) {
        l->picture_texture = result->texture;
    }
    l->shown.captured_ns = frame->captured_ns;
    l->shown.shown_ns = draw(l);
    finder_look(&frame->image, &l->shown.look);
    return l->shown.shown_ns;
}

// Flashes of two paths cannot be compared. -p auto ends its choice before the first flash.
static void path_replaced(void *context)
{
    const struct latency *l = context;
    if (l->stream.state.automatic)
        return;
    log_error("cannot measure: the path failed");
    fail(context, EXIT_DEVICE);
}

const struct stream_client latency_client = {.show = show, .changed = path_replaced};

static void show_progress(struct latency *l)
{
    if (l->options.json)
        return;
    if (l->learning)
        status_line_tick(&l->status_line, "looking for the flash: round %d of %d", l->round + 1, LEARN_ROUNDS);
    else
        status_line_tick(&l->status_line, "%d of %d flashes, %d missed", l->samples, l->options.flashes, l->missed);
}

// Shows the camera's next frame, and describes it in l->shown. False if none arrives by the deadline, if the
// measurement ends (see stopped), or on failure (logged, `code` set).
static bool next_shown(struct latency *l, int64_t deadline_ns)
{
    while (!stopped(l) && clock_now_ns() < deadline_ns) {
        show_progress(l);
        if (stream_step(&l->stream, IDLE_MS) == STREAM_SHOWN)
            return l->stream.code == EXIT_OK;
        if (l->stream.playback.ended && l->stream.code == EXIT_OK) {
            log_error("cannot measure: the source ended");
            return fail(l, EXIT_FAILED_SOME);
        }
    }
    return false;
}

// Shows darkness or light, waits settle_ns, then learns from at least LEARN_FRAMES frames and for at least learn_ns.
static bool learn_state(struct latency *l, bool light)
{
    const int64_t since_ns = set_flash(l, light) + settle_ns;
    int learnt = 0;
    while (learnt < LEARN_FRAMES || clock_now_ns() < since_ns + learn_ns) {
        if (!next_shown(l, since_ns + learn_ns + patience_ns)) {
            if (!stopped(l)) {
                log_error(
                    "cannot measure: the camera delivers too few frames; check its connection and its exposure time");
                l->stream.code = EXIT_NOTHING;
            }
            return false;
        }
        if (l->shown.shown_ns < since_ns)
            continue;
        finder_learn(&l->finder, light, &l->shown.look);
        learnt++;
    }
    return true;
}

static bool learn(struct latency *l)
{
    memset(l->flash.plane[0], 0, image_bytes(&l->flash.shape));
    l->picture_texture = renderer_upload(l->renderer, 0, &l->flash);
    l->learning = true;
    for (l->round = 0; l->round < LEARN_ROUNDS; l->round++) {
        if (!learn_state(l, false) || !learn_state(l, true))
            return false;
        finder_end_round(&l->finder);
    }
    l->learning = false;
    if (finder_ready(&l->finder))
        return true;
    log_error(
        "the camera does not see the flash (largest change: %.0f of 255); point it at the window, move it closer, "
        "dim the room, or fix its exposure",
        (double)l->finder.strongest);
    return fail(l, EXIT_NOTHING);
}

// Waits until the level is above the threshold (`light`), or not above it. False after patience_ns.
static bool wait_level(struct latency *l, bool light, double threshold)
{
    const int64_t deadline_ns = clock_now_ns() + patience_ns;
    while (next_shown(l, deadline_ns)) {
        if ((finder_level(&l->finder, &l->shown.look) > threshold) == light)
            return true;
    }
    return false;
}

// Waits in darkness for a random time, which keeps the flashes out of step with the camera's frames. Returns the level
// of the last frames, because exposure and daylight change it.
static double rest(struct latency *l)
{
    double base = 0;
    int looks = 0;
    const int64_t until_ns = clock_now_ns() + dark_least_ns + random() % dark_range_ns;
    while (next_shown(l, until_ns)) {
        const double level = finder_level(&l->finder, &l->shown.look);
        looks += looks < BASE_FRAMES;
        base += (level - base) / looks;
    }
    return base;
}

// Measures one flash, or counts it as missed.
static void flash(struct latency *l)
{
    const double threshold = rest(l) + 0.5;
    if (stopped(l))
        return;
    const int64_t begun_ns = set_flash(l, true);
    const bool seen = wait_level(l, true, threshold);
    if (!seen && stopped(l))
        return;
    if (seen) {
        l->sample[l->samples++] =
            (struct latency_sample){l->shown.captured_ns - begun_ns, l->shown.shown_ns - begun_ns};
        latency_report_sample(l, l->samples - 1);
        for (const int64_t end_ns = l->shown.shown_ns + lit_ns; next_shown(l, end_ns);)
            ;
    } else {
        l->missed++;
    }
    set_flash(l, false);
    wait_level(l, false, threshold);
}

bool latency_measure(struct latency *l)
{
    srandom((unsigned)clock_now_ns());
    if (l->stream.state.automatic)
        automatic_follow(&l->stream.automatic, l->stream.panes);
    while (automatic_busy(&l->stream.automatic) && next_shown(l, clock_now_ns() + patience_ns))
        ; // until -p auto has chosen a path
    if (stopped(l) || !learn(l))
        return false;
    log_info("the flash is visible in %d of %d cells of the camera's image", l->finder.cells, FINDER_CELLS);
    set_flash(l, false);
    wait_level(l, false, 0.5);
    for (int in_a_row = 0; l->samples < l->options.flashes && in_a_row < MISSED_MAX && !stopped(l);) {
        const int before = l->missed;
        flash(l);
        in_a_row = l->missed > before ? in_a_row + 1 : 0;
    }
    if (l->samples == 0 && l->missed > 0) {
        log_error("the camera lost the flash before the first measurement; keep the camera and the light still");
        return fail(l, EXIT_NOTHING);
    }
    if (l->samples < l->options.flashes && l->missed >= MISSED_MAX && !stopped(l)) {
        log_warn("the camera lost the flash after %d flashes; the results cover only these", l->samples);
        l->stream.code = EXIT_FAILED_SOME;
    }
    return l->samples > 0;
}

// ---- finds the flash in frames ----

enum {
    ROWS_LOOKED_AT = 4, // rows sampled per cell
    STEP_MIN = 6,       // smallest change of luma that counts: codecs and sensors cause smaller changes
    CELLS_MIN = 4,
};
static const double noise_times = 3; // minimum ratio of the step to the noise of single frames

void finder_look(const struct image *picture, struct finder_look *look)
{
    const struct image_shape *shape = &picture->shape;
    uint8_t *rgba = xmalloc((size_t)shape->width * 4);
    const struct color_coefficients coefficients =
        pixfmt_info(shape->format)->yuv ? color_to_rgb(shape->color) : (struct color_coefficients){0};
    for (int row = 0; row < FINDER_ROWS; row++) {
        uint64_t sum[FINDER_COLUMNS] = {0}, count[FINDER_COLUMNS] = {0};
        for (int i = 0; i < ROWS_LOOKED_AT; i++) {
            const int y = (int)((int64_t)shape->height * (row * ROWS_LOOKED_AT + i) / (FINDER_ROWS * ROWS_LOOKED_AT));
            convert_row_to_rgba(picture, &coefficients, 0, y, shape->width, rgba, ROW_CACHED);
            for (int x = 0; x < shape->width; x++) {
                const int column = (int)((int64_t)x * FINDER_COLUMNS / shape->width);
                const uint8_t *p = rgba + 4 * x;
                sum[column] += (uint64_t)((77 * p[0] + 150 * p[1] + 29 * p[2] + 128) >> 8);
                count[column]++;
            }
        }
        for (int column = 0; column < FINDER_COLUMNS; column++)
            look->cell[row * FINDER_COLUMNS + column] = count[column] ? (float)sum[column] / (float)count[column] : 0;
    }
    free(rgba);
}

void finder_learn(struct finder *finder, bool light, const struct finder_look *look)
{
    struct finder_sums *sums = &finder->seen[light];
    for (int i = 0; i < FINDER_CELLS; i++) {
        sums->sum[i] += look->cell[i];
        sums->squares[i] += (double)look->cell[i] * look->cell[i];
    }
    sums->count++;
}

static double deviation(const struct finder_sums *sums, int cell)
{
    const double mean = sums->sum[cell] / sums->count;
    return sqrt(fmax(0, sums->squares[cell] / sums->count - mean * mean));
}

void finder_end_round(struct finder *finder)
{
    const struct finder_sums *dark = &finder->seen[false], *light = &finder->seen[true];
    if (dark->count == 0 || light->count == 0)
        return;
    for (int i = 0; i < FINDER_CELLS; i++) {
        const double low = dark->sum[i] / dark->count, step = light->sum[i] / light->count - low;
        const double noise = fmax(deviation(dark, i), deviation(light, i));
        finder->step[i] = finder->rounds == 0 ? (float)step : fminf(finder->step[i], (float)step);
        finder->noise[i] = fmaxf(finder->noise[i], (float)noise);
        finder->dark[i] += ((float)low - finder->dark[i]) / (float)(finder->rounds + 1);
    }
    finder->rounds++;
    memset(finder->seen, 0, sizeof(finder->seen));
}

bool finder_ready(struct finder *finder)
{
    finder->weights = finder->strongest = 0;
    finder->cells = 0;
    for (int i = 0; i < FINDER_CELLS && finder->rounds > 0; i++) {
        const bool counts = finder->step[i] >= STEP_MIN && finder->step[i] >= noise_times * finder->noise[i];
        finder->strongest = fmaxf(finder->strongest, finder->step[i]);
        finder->weight[i] = counts ? finder->step[i] : 0;
        finder->weights += finder->weight[i] * finder->step[i];
        finder->cells += counts;
    }
    return finder->cells >= CELLS_MIN;
}

double finder_level(const struct finder *finder, const struct finder_look *look)
{
    double sum = 0;
    for (int i = 0; i < FINDER_CELLS; i++)
        sum += (double)finder->weight[i] * (look->cell[i] - finder->dark[i]);
    return finder->weights > 0 ? sum / finder->weights : 0;
}
