// calibrate.c: `lane --calibrate`: the user moves the four points of the calibration in a window
#include "command/lane/lane.h"

#include "base/clock.h"
#include "base/log.h"
#include "command/lane/calibrate_view.h"
#include "lane/pipeline.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WAIT_MS = 20, GRAB_PART = 10 }; // a press selects a point that is nearer than this part of the picture's height

struct calibrate {
    struct calibration calibration;
    struct stream *stream;
    const char *file;
    struct calibrate_view *view;
    struct lane_pipeline pipeline; // makes the bird's-eye view
    bool mapped;                   // the pipeline has the map of the points
    struct image black;            // RGBA; before the first frame
    const struct image *frame;     // RGBA; the latest
    bool held;                     // the user holds the frame
    bool bare;                     // the window shows no text but messages
    bool changed;                  // the window shows an old state
    int selected, dragged;         // points; -1: the mouse drags none
    double grip[2];                // from the pointer to the dragged point
    char message[LANE_ERROR + 64];
    bool message_is_error;
};

// ---- keys and mouse ----

static void move_to(struct calibrate *c, int point, double x, double y)
{
    calibration_move(&c->calibration, point, x, y);
    c->mapped = false;
    c->message[0] = '\0';
    c->message_is_error = false;
}

static void drag(struct calibrate *c, const struct window_event *event)
{
    const double x = (double)event->x, y = (double)event->y;
    if (event->begins) {
        double place[2];
        c->dragged = calibration_nearest(&c->calibration, x, y, c->calibration.height / (double)GRAB_PART);
        if (c->dragged < 0)
            return;
        c->selected = c->dragged;
        calibration_place(&c->calibration, c->dragged, place);
        c->grip[0] = place[0] - x;
        c->grip[1] = place[1] - y;
    } else if (c->dragged >= 0) {
        move_to(c, c->dragged, x + c->grip[0], y + c->grip[1]);
    }
}

static void write_file(struct calibrate *c)
{
    char error[LANE_ERROR];
    c->message_is_error = !calibration_write(&c->calibration, c->file, error);
    if (c->message_is_error) {
        snprintf(c->message, sizeof(c->message), "%s is not written: %s", c->file, error);
        log_error("%s", c->message);
        return;
    }
    snprintf(c->message, sizeof(c->message), "wrote %s", c->file);
    printf("%s\n", c->message);
    fflush(stdout); // main logs a broken standard output
}

// Handles a key. Returns false if the user quits.
static bool press(struct calibrate *c, const struct window_event *event)
{
    static const struct {
        uint32_t key;
        int x, y;
    } arrows[] = {{WINDOW_KEY_LEFT, -1, 0}, {WINDOW_KEY_RIGHT, 1, 0}, {WINDOW_KEY_UP, 0, -1}, {WINDOW_KEY_DOWN, 0, 1}};
    const double *at = &c->calibration.camera.points[2 * c->selected];
    for (size_t i = 0; i < sizeof(arrows) / sizeof(*arrows); i++) {
        if (event->key == arrows[i].key)
            move_to(c, c->selected, at[0] + arrows[i].x, at[1] + arrows[i].y);
    }
    if (event->key == WINDOW_KEY_TAB)
        c->selected = (c->selected + 1) % CALIBRATION_POINTS;
    else if (event->key == ' ' && !event->repeat)
        c->held = !c->held;
    else if (event->key == 'o' && !event->repeat)
        c->bare = !c->bare;
    else if (event->key == WINDOW_KEY_ENTER && !event->repeat)
        write_file(c);
    return event->key != 'q' && event->key != WINDOW_KEY_ESCAPE;
}

// Returns false if the user quits or the display is lost.
static bool handle_events(struct calibrate *c)
{
    struct window_event event;
    while (calibrate_view_event(c->view, &event)) {
        c->changed = true;
        if (event.type == WINDOW_CLOSE || (event.type == WINDOW_KEY && !press(c, &event)))
            return false;
        if (event.type == WINDOW_DRAG)
            drag(c, &event);
    }
    if (calibrate_view_lost(c->view))
        c->stream->code = EXIT_DEVICE;
    return !calibrate_view_lost(c->view);
}

// ---- pictures ----

static int64_t show(void *context, const struct frame *frame, bool again)
{
    struct calibrate *c = context;
    c->frame = &lanes_result(c->stream->lanes, LANE_MAIN)->image;
    c->changed = true;
    return clock_now_ns();
}

// Returns the bird's-eye view of the frame; NULL if the points are impossible.
static const struct image *make_bird(struct calibrate *c)
{
    struct calibration *calibration = &c->calibration;
    if (!c->mapped) {
        lane_pipeline_close(&c->pipeline);
        c->pipeline = (struct lane_pipeline){
            .map = calibration->map,
            .setup = {.kind = PATH_CPU, .input = c->black.shape, .threads = c->stream->set.threads}};
        c->mapped = true;
    }
    if (calibration->fault[0])
        return NULL;
    const struct image *bird = lane_pipeline_stage(&c->pipeline, c->frame, LANE_BIRD);
    if (!bird)
        snprintf(calibration->fault, LANE_ERROR, "they give no bird's-eye view");
    return bird;
}

static void draw(struct calibrate *c)
{
    const struct calibrate_scene scene = {.bird = make_bird(c),
                                          .calibration = &c->calibration,
                                          .frame = c->frame,
                                          .selected = c->selected,
                                          .held = c->held,
                                          .bare = c->bare,
                                          .message = c->message,
                                          .message_is_error = c->message_is_error};
    calibrate_view_draw(c->view, &scene);
    c->changed = false;
}

static enum exit_code open_all(struct calibrate *c, const struct lane_camera *camera)
{
    const struct image_shape *shape = &c->stream->info->shape;
    char error[LANE_ERROR];
    if (!calibration_init(&c->calibration, camera, shape->width, shape->height, error)) {
        log_error("the camera does not fit frames of %dx%d: %s", shape->width, shape->height, error);
        return EXIT_USAGE;
    }
    const struct image_shape rgba = {.width = shape->width, .height = shape->height};
    if (!image_alloc(&c->black, &rgba)) {
        log_error("cannot calibrate: out of memory");
        return EXIT_NOTHING;
    }
    for (int y = 0; y < rgba.height; y++)
        memset(image_row(&c->black, 0, y), 0, 4 * (size_t)rgba.width);
    c->frame = &c->black;
    c->view = calibrate_view_open(shape->width, shape->height, error);
    if (!c->view)
        log_error("--calibrate needs a window, which cannot be opened: %s", error);
    wish_init(&c->stream->wish, NULL, PATH_CPU);
    return c->view && stream_open(c->stream) && stream_build(c->stream) && stream_start(c->stream) ? EXIT_OK
                                                                                                   : EXIT_NOTHING;
}

enum exit_code lane_calibrate(struct stream *stream, const struct lane_camera *camera, const char *file, int threads)
{
    static const struct stream_client client = {.show = show};
    struct calibrate *c = calloc(1, sizeof(*c)); // too large for the stack
    if (!c) {
        log_error("cannot calibrate: out of memory");
        return EXIT_NOTHING;
    }
    *c = (struct calibrate){.stream = stream, .file = file, .dragged = -1, .changed = true};
    stream->set = (struct stream_setup){
        .client = &client, .context = c, .kind_named = true, .driven = true, .threads = threads, .depth = 1};
    enum exit_code code = open_all(c, camera);
    while (code == EXIT_OK && process_interrupted() == 0 && stream->code < EXIT_NOTHING && handle_events(c)) {
        stream->wish.paused = c->held && c->frame != &c->black;
        stream_step(stream, WAIT_MS);
        if (c->changed)
            draw(c);
    }
    code = code == EXIT_OK ? stream->code : code;
    lane_pipeline_close(&c->pipeline);
    calibrate_view_close(c->view);
    image_free(&c->black);
    free(c);
    return code;
}
