// calibrate.c: `lane --calibrate`: the user moves the four points of the calibration in a window
#include "command/lane/lane_report.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/log.h"
#include "lane/lane_camera.h"
#include "lane/pipeline.h"
#include "screen/canvas.h"
#include "screen/renderer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { WAIT_MS = 20, GRAB_PART = 10 }; // a press selects a point that is nearer than this part of the picture's height
enum { MOVED_PART = 50 };              // a point that moved less is nearly where it began
enum { LETTERS_LEAST = 12, LETTERS_MOST = 48, LETTERS_PART = 30, RIM = 2 }; // heights in pixels, a part of the picture

static const struct paint right_paint = {40, 220, 80, 255}, wrong_paint = {255, 60, 30, 255};
static const struct paint selected_paint = {255, 255, 255, 255}, rectangle_paint = {255, 220, 0, 255};
static const struct paint label_paint = {0, 0, 0, 150}, empty_paint = {24, 24, 28, 255};

// The window: the camera's picture with the points, and the bird's-eye view.
struct calibrate_view {
    struct window *window;
    struct renderer *renderer;
    struct image board; // RGBA: the picture, and the bird's-eye view right of it
    struct sketch sketch;
    struct rect picture, bird; // in the board
    struct overlay overlay;
};

struct calibrate {
    struct calibration calibration;
    struct stream *stream;
    const char *file;
    const struct lane_camera *camera; // of the options
    double lane_width;                // of the options; 0: none
    double start[8];                  // the first points
    bool guessed;                     // the first points are neither the user's nor those of lines
    bool asked;                       // the user was asked whether they are meant
    struct calibrate_view view;
    struct lane_pipeline pipeline; // makes the bird's-eye view
    bool mapped;                   // the pipeline has the map of the points
    struct image black;            // RGBA; before the first frame
    const struct image *frame;     // RGBA; the latest
    const struct image *bird;      // RGBA of lane_view's size; NULL: the points are impossible
    bool held;                     // the user holds the frame
    bool bare;                     // the window shows no text but messages
    bool changed;                  // the window shows an old state
    int selected;                  // of CALIBRATION_VALUES
    int dragged;                   // point; -1: the mouse drags none
    double grip[2];                // from the pointer to the dragged point
    char message[LANE_ERROR + 64];
    bool message_is_error;
};

// ---- window ----

static bool make_board(struct calibrate_view *view, int width, int height)
{
    const int across = (height * lane_view.columns + lane_view.rows / 2) / lane_view.rows;
    view->picture = (struct rect){0, 0, width, height};
    view->bird = (struct rect){width, 0, across > 0 ? across : 1, height};
    const struct image_shape shape = {.width = width + view->bird.width, .height = height};
    const double letters = fmin(fmax(height / LETTERS_PART, LETTERS_LEAST), LETTERS_MOST);
    return image_alloc(&view->board, &shape) && sketch_init(&view->sketch, &view->board, (int)letters);
}

// Returns false if the window cannot be opened (logged).
static bool open_view(struct calibrate_view *view, int width, int height)
{
    char why[256] = "out of memory";
    const bool made = make_board(view, width, height);
    struct window_setup setup = {.title = "monocle lane: calibration",
                                 .width = view->board.shape.width,
                                 .height = view->board.shape.height,
                                 .vsync = true};
    window_enlarge(&setup);
    if (made && (view->window = window_open(&setup, why)) && !(view->renderer = renderer_open()))
        snprintf(why, sizeof(why), "GL is not sufficient");
    if (!view->renderer)
        log_error("--calibrate needs a window, which cannot be opened: %s", why);
    return view->renderer != NULL;
}

static void close_view(struct calibrate_view *view)
{
    if (!window_lost(view->window))
        renderer_close(view->renderer);
    window_close(view->window);
    sketch_finish(&view->sketch);
    image_free(&view->board);
}

// Draws a straight line in a part of the board.
static void draw_line(const struct sketch *sketch, const struct rect *part, const double a[2], const double b[2],
                      struct paint paint)
{
    const int steps = (int)fmin(fmax(fabs(b[0] - a[0]), fabs(b[1] - a[1])), 1e5) + 1;
    for (int i = 0; i <= steps; i++) {
        const int x = (int)floor(a[0] + (b[0] - a[0]) * i / steps), y = (int)floor(a[1] + (b[1] - a[1]) * i / steps);
        if (x >= part->x && x < part->x + part->width)
            sketch_fill(sketch, (struct rect){x - RIM / 2, y - RIM / 2, RIM, RIM}, paint);
    }
}

static void draw_disc(const struct sketch *sketch, const double centre[2], int radius, struct paint paint)
{
    for (int row = -radius; row <= radius; row++) {
        const int half = (int)sqrt((double)(radius * radius - row * row));
        sketch_fill(sketch, (struct rect){(int)centre[0] - half, (int)centre[1] + row, 2 * half + 1, 1}, paint);
    }
}

static void draw_label(const struct calibrate_view *view, int point, const double place[2], int radius)
{
    const struct sketch *sketch = &view->sketch;
    const char *name = calibration_names[point];
    const int width = (int)strlen(name) * sketch->font.advance, gap = radius + 2 * RIM;
    const bool left = point == 0 || point == 3;
    int x = (int)place[0] + (left ? -gap - width : gap);
    x = (int)fmax(fmin(x, view->picture.width - width), 0);
    int y = (int)place[1] + (point < 2 ? RIM : -sketch->font.line - RIM);
    y = (int)fmax(fmin(y, view->picture.height - sketch->font.line), 0);
    sketch_fill(sketch, (struct rect){x, y, width, sketch->font.line}, label_paint);
    sketch_text(sketch, x, y, name, selected_paint);
}

static void draw_points(const struct calibrate *c)
{
    const struct calibrate_view *view = &c->view;
    const struct calibration *calibration = &c->calibration;
    const struct paint paint = calibration->fault[0] ? wrong_paint : right_paint;
    const int radius = view->sketch.font.line / 3;
    for (int i = 0; i < CALIBRATION_POINTS; i++)
        draw_line(&view->sketch, &view->picture, &calibration->camera.points[2 * i],
                  &calibration->camera.points[2 * ((i + 1) % CALIBRATION_POINTS)], paint);
    for (int i = 0; i < CALIBRATION_POINTS; i++) {
        double place[2];
        calibration_place(calibration, i, place);
        if (i == c->selected)
            draw_disc(&view->sketch, place, radius + 2 * RIM, selected_paint);
        draw_disc(&view->sketch, place, radius, paint);
        draw_label(view, i, place, radius);
    }
}

// Draws the bird's-eye view, stretched to the board's height, and the rectangle in it.
static void draw_bird(const struct calibrate *c)
{
    const struct calibrate_view *view = &c->view;
    const struct rect *part = &view->bird;
    if (!c->bird) {
        sketch_fill(&view->sketch, *part, empty_paint);
        return;
    }
    for (int y = 0; y < part->height; y++) {
        const uint8_t *from = image_row(c->bird, 0, y * lane_view.rows / part->height);
        uint8_t *to = image_row(&view->board, 0, y) + 4 * (size_t)part->x;
        for (int x = 0; x < part->width; x++)
            memcpy(to + 4 * (size_t)x, from + 4 * (size_t)(x * lane_view.columns / part->width), 4);
    }
    const struct lane_camera *camera = &c->calibration.camera;
    const double wide = camera->width / lane_view.across * part->width, middle = part->x + part->width / 2.0;
    const double down = part->height / (lane_view.far - lane_view.near);
    const double near = (lane_view.far - camera->near) * down, far = (lane_view.far - camera->far) * down;
    const double corner[4][2] = {
        {middle - wide / 2, near}, {middle + wide / 2, near}, {middle + wide / 2, far}, {middle - wide / 2, far}};
    const struct paint paint = c->selected < CALIBRATION_POINTS ? rectangle_paint : selected_paint;
    for (int i = 0; i < 4; i++)
        draw_line(&view->sketch, part, corner[i], corner[(i + 1) % 4], paint);
}

static void fill_overlay(struct overlay *overlay, const struct calibrate *c)
{
    const struct calibration *calibration = &c->calibration;
    const struct lane_camera *camera = &calibration->camera;
    const bool wrong = calibration->fault[0];
    overlay->size = c->bare ? OVERLAY_OFF : OVERLAY_FULL;
    overlay->lines = 0;
    if (c->selected < CALIBRATION_POINTS)
        overlay_line(overlay, OVERLAY_STRONG, "%s: %.1f, %.1f%s", calibration_names[c->selected],
                     camera->points[2 * c->selected], camera->points[2 * c->selected + 1], c->held ? " | held" : "");
    else
        overlay_line(overlay, OVERLAY_STRONG, "%s%s", calibration_names[c->selected], c->held ? " | held" : "");
    overlay_line(overlay, OVERLAY_PLAIN, "on the road: %g m wide, %g to %g m ahead", camera->width, camera->near,
                 camera->far);
    overlay_line(overlay, OVERLAY_DIM, "mouse, arrows: change | Tab: next | Space: hold");
    overlay_line(overlay, OVERLAY_DIM, "o: no text | Enter: write | q: quit");
    overlay->message_is_error = wrong || c->message_is_error;
    if (!wrong || c->message_is_error)
        snprintf(overlay->message, sizeof(overlay->message), "%s", c->message);
    else
        snprintf(overlay->message, sizeof(overlay->message), "wrong points or sizes: %s", calibration->fault);
}

static struct scene board_scene(const struct calibrate_view *view)
{
    return (struct scene){
        .width = view->board.shape.width, .height = view->board.shape.height, .overlay = &view->overlay};
}

static void make_bird(struct calibrate *c)
{
    struct calibration *calibration = &c->calibration;
    if (!c->mapped) {
        lane_pipeline_close(&c->pipeline);
        c->pipeline = (struct lane_pipeline){
            .map = calibration->map,
            .setup = {.kind = PATH_CPU, .input = c->black.shape, .threads = c->stream->setup.threads}};
        c->mapped = true;
    }
    c->bird = calibration->fault[0] ? NULL : lane_pipeline_stage(&c->pipeline, c->frame, LANE_BIRD);
    if (!c->bird && !calibration->fault[0])
        snprintf(calibration->fault, LANE_ERROR, "they give no bird's-eye view");
}

static void draw(struct calibrate *c)
{
    struct calibrate_view *view = &c->view;
    make_bird(c);
    for (int y = 0; y < view->picture.height; y++)
        memcpy(image_row(&view->board, 0, y), image_row(c->frame, 0, y), 4 * (size_t)view->picture.width);
    draw_points(c);
    draw_bird(c);
    fill_overlay(&view->overlay, c);
    const struct window_size size = window_size(view->window);
    struct scene scene = board_scene(view);
    scene.texture = renderer_upload(view->renderer, 0, &view->board);
    renderer_draw(view->renderer, &scene, &size);
    window_swap(view->window);
    c->changed = false;
}

// ---- keys and mouse ----

static void use_points(struct calibrate *c)
{
    c->mapped = false;
    c->message[0] = '\0';
    c->message_is_error = false;
}

// Moves the selected point by pixels, or changes the selected size by steps: right and up make it larger.
static void change_selected(struct calibrate *c, int x, int y)
{
    const double *points = c->calibration.camera.points;
    if (c->selected < CALIBRATION_POINTS)
        calibration_move(&c->calibration, c->selected, points[2 * c->selected] + x, points[2 * c->selected + 1] + y);
    else
        calibration_resize(&c->calibration, c->selected, x - y);
    use_points(c);
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
        calibration_move(&c->calibration, c->dragged, x + c->grip[0], y + c->grip[1]);
        use_points(c);
    }
}

// Returns true if the points are a guess that the user hardly moved.
static bool is_guess(const struct calibrate *c)
{
    double moved = 0;
    for (int i = 0; i < 2 * CALIBRATION_POINTS; i++)
        moved = fmax(moved, fabs(c->calibration.camera.points[i] - c->start[i]));
    return c->guessed && moved < c->calibration.height / (double)MOVED_PART;
}

static void write_file(struct calibrate *c)
{
    char error[LANE_ERROR];
    if (is_guess(c) && !c->asked) {
        c->asked = true;
        snprintf(c->message, sizeof(c->message),
                 "no lane was found, and the points are nearly where they began: move them, or press Enter again");
        c->message_is_error = true;
        log_warn("%s", c->message);
        return;
    }
    c->message_is_error = !calibration_write(&c->calibration, c->file, error);
    if (c->message_is_error) {
        snprintf(c->message, sizeof(c->message), "%s is not written: %s", c->file, error);
        log_error("%s", c->message);
        return;
    }
    snprintf(c->message, sizeof(c->message), "wrote %s", c->file);
    log_print_line(stdout, "%s", c->message);
    fflush(stdout); // main logs a broken standard output
}

// Handles a key. Returns false if the user quits.
static bool press(struct calibrate *c, const struct window_event *event)
{
    static const struct {
        uint32_t key;
        int x, y;
    } arrows[] = {{WINDOW_KEY_LEFT, -1, 0}, {WINDOW_KEY_RIGHT, 1, 0}, {WINDOW_KEY_UP, 0, -1}, {WINDOW_KEY_DOWN, 0, 1}};
    for (size_t i = 0; i < sizeof(arrows) / sizeof(*arrows); i++) {
        if (event->key == arrows[i].key)
            change_selected(c, arrows[i].x, arrows[i].y);
    }
    if (event->key == WINDOW_KEY_TAB)
        c->selected = (c->selected + 1) % CALIBRATION_VALUES;
    else if (event->key == ' ' && !event->repeat)
        c->held = !c->held;
    else if (event->key == 'o' && !event->repeat)
        c->bare = !c->bare;
    else if (event->key == WINDOW_KEY_ENTER && !event->repeat)
        write_file(c);
    return event->key != 'q' && event->key != WINDOW_KEY_ESCAPE;
}

// Returns the oldest event; WINDOW_DRAG has its place in pixels of the picture. False: there is none.
static bool next_event(const struct calibrate_view *view, struct window_event *event)
{
    if (!window_next_event(view->window, event))
        return false;
    if (event->type == WINDOW_DRAG) {
        const struct window_size size = window_size(view->window);
        const struct scene scene = board_scene(view);
        const struct renderer_box box = renderer_picture_box(&scene, &size);
        if (box.width < 1 || box.height < 1)
            return true;
        event->x = (event->x * (float)size.width - box.x) / box.width * (float)scene.width;
        event->y = (event->y * (float)size.height - box.y) / box.height * (float)scene.height;
    }
    return true;
}

// Returns false if the user quits or the display is lost.
static bool handle_events(struct calibrate *c)
{
    struct window_event event;
    while (next_event(&c->view, &event)) {
        c->changed = true;
        if (event.type == WINDOW_CLOSE || (event.type == WINDOW_KEY && !press(c, &event)))
            return false;
        if (event.type == WINDOW_DRAG)
            drag(c, &event);
    }
    if (window_lost(c->view.window))
        c->stream->code = EXIT_DEVICE;
    return !window_lost(c->view.window);
}

// ---- stream ----

static int64_t show(void *context, const struct frame *frame, bool again)
{
    struct calibrate *c = context;
    const bool first = c->frame == &c->black;
    c->frame = &panes_result(c->stream->panes, PANE_MAIN)->image;
    c->changed = true;
    if (first && is_guess(c) &&
        calibration_find(&c->calibration, c->camera, c->lane_width, c->frame, c->stream->setup.threads)) {
        c->guessed = false;
        use_points(c);
    }
    return clock_now_ns();
}

static enum exit_code open_all(struct calibrate *c)
{
    const struct image_shape *shape = &c->stream->playback.info->shape;
    char error[LANE_ERROR];
    if (!calibration_init(&c->calibration, c->camera, shape->width, shape->height, error)) {
        log_error("the camera does not fit frames of %dx%d: %s", shape->width, shape->height, error);
        return EXIT_USAGE;
    }
    c->guessed = !c->camera->has_points;
    memcpy(c->start, c->calibration.camera.points, sizeof(c->start));
    const struct image_shape rgba = {.width = shape->width, .height = shape->height};
    if (!image_alloc(&c->black, &rgba)) {
        log_error("cannot calibrate: out of memory");
        return EXIT_NOTHING;
    }
    for (int y = 0; y < rgba.height; y++)
        memset(image_row(&c->black, 0, y), 0, 4 * (size_t)rgba.width);
    c->frame = &c->black;
    settings_init(&c->stream->settings, NULL, PATH_CPU);
    c->stream->state = stream_state_first(&c->stream->settings);
    return open_view(&c->view, shape->width, shape->height) && stream_open(c->stream) && stream_build(c->stream) &&
                   stream_start(c->stream)
               ? EXIT_OK
               : EXIT_NOTHING;
}

enum exit_code lane_calibrate(struct stream *stream, const struct lane_camera *camera, const struct lane_options *o)
{
    static const struct stream_client client = {.show = show};
    struct calibrate *c = xalloc(sizeof(*c)); // too large for the stack
    *c = (struct calibrate){.stream = stream,
                            .file = o->config,
                            .camera = camera,
                            .lane_width = o->lane_width,
                            .dragged = -1,
                            .changed = true};
    stream_init(stream, &(struct stream_setup){
                            .client = &client, .context = c, .driven = true, .threads = o->threads, .depth = 1});
    enum exit_code code = open_all(c);
    while (code == EXIT_OK && process_interrupted() == 0 && stream->code < EXIT_NOTHING && handle_events(c)) {
        stream->settings.paused = c->held && c->frame != &c->black;
        stream_step(stream, WAIT_MS);
        if (c->changed)
            draw(c);
    }
    code = code == EXIT_OK ? stream->code : code;
    lane_pipeline_close(&c->pipeline);
    close_view(&c->view);
    image_free(&c->black);
    free(c);
    return code;
}
