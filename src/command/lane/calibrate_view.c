// calibrate_view.c: the window of `lane --calibrate`
#include "command/lane/calibrate_view.h"

#include "screen/renderer.h"
#include "screen/sketch.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LETTERS_LEAST = 12, LETTERS_MOST = 48, LETTERS_PART = 30, RIM = 2 }; // heights in pixels, a part of the picture

static const struct paint right_paint = {40, 220, 80, 255}, wrong_paint = {255, 60, 30, 255};
static const struct paint selected_paint = {255, 255, 255, 255}, rectangle_paint = {255, 220, 0, 255};
static const struct paint label_paint = {0, 0, 0, 150}, empty_paint = {24, 24, 28, 255};

struct calibrate_view {
    struct window *window;
    struct renderer *renderer;
    struct image board; // RGBA: the picture, and the bird's-eye view right of it
    struct sketch sketch;
    struct rect picture, bird; // in the board
    struct overlay overlay;
};

static bool make_board(struct calibrate_view *view, int width, int height)
{
    const int across = (height * lane_view.columns + lane_view.rows / 2) / lane_view.rows;
    view->picture = (struct rect){0, 0, width, height};
    view->bird = (struct rect){width, 0, across > 0 ? across : 1, height};
    const struct image_shape shape = {.width = width + view->bird.width, .height = height};
    const int letters = height / LETTERS_PART;
    return image_alloc(&view->board, &shape) && sketch_init(&view->sketch, &view->board,
                                                            letters < LETTERS_LEAST  ? LETTERS_LEAST
                                                            : letters > LETTERS_MOST ? LETTERS_MOST
                                                                                     : letters);
}

struct calibrate_view *calibrate_view_open(int width, int height, char why[256])
{
    struct calibrate_view *view = calloc(1, sizeof(*view));
    snprintf(why, 256, "out of memory");
    if (!view || !make_board(view, width, height))
        goto fail;
    struct window_setup setup = {.title = "monocle lane: calibration",
                                 .width = view->board.shape.width,
                                 .height = view->board.shape.height,
                                 .vsync = true};
    window_enlarge(&setup);
    if (!(view->window = window_open(&setup, why)))
        goto fail;
    snprintf(why, 256, "GL is not sufficient");
    if ((view->renderer = renderer_open()))
        return view;
fail:
    calibrate_view_close(view);
    return NULL;
}

void calibrate_view_close(struct calibrate_view *view)
{
    if (!view)
        return;
    if (view->window && !window_lost(view->window))
        renderer_close(view->renderer);
    window_close(view->window);
    sketch_finish(&view->sketch);
    image_free(&view->board);
    free(view);
}

bool calibrate_view_lost(const struct calibrate_view *view)
{
    return window_lost(view->window);
}

// ---- drawing ----

// Draws a straight line in a part of the board.
static void draw_line(const struct sketch *sketch, const struct rect *part, const double a[2], const double b[2],
                      int thickness, struct paint paint)
{
    const int steps = (int)fmin(fmax(fabs(b[0] - a[0]), fabs(b[1] - a[1])), 1e5) + 1;
    for (int i = 0; i <= steps; i++) {
        const int x = (int)floor(a[0] + (b[0] - a[0]) * i / steps), y = (int)floor(a[1] + (b[1] - a[1]) * i / steps);
        if (x >= part->x && x < part->x + part->width)
            sketch_fill(sketch, (struct rect){x - thickness / 2, y - thickness / 2, thickness, thickness}, paint);
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
    const int width = (int)strlen(name) * sketch->advance, gap = radius + 2 * RIM;
    const bool left = point == 0 || point == 3;
    int x = (int)place[0] + (left ? -gap - width : gap);
    x = x < 0 ? 0 : x + width > view->picture.width ? view->picture.width - width : x;
    const int y = (int)place[1] + (point < 2 ? RIM : -sketch->line - RIM);
    sketch_fill(sketch, (struct rect){x, y, width, sketch->line}, label_paint);
    sketch_text(sketch, x, y, name, selected_paint);
}

static void draw_points(const struct calibrate_view *view, const struct calibrate_scene *scene)
{
    const struct calibration *calibration = scene->calibration;
    const struct paint paint = calibration->fault[0] ? wrong_paint : right_paint;
    const int radius = view->sketch.line / 3;
    for (int i = 0; i < CALIBRATION_POINTS; i++)
        draw_line(&view->sketch, &view->picture, &calibration->camera.points[2 * i],
                  &calibration->camera.points[2 * ((i + 1) % CALIBRATION_POINTS)], RIM, paint);
    for (int i = 0; i < CALIBRATION_POINTS; i++) {
        double place[2];
        calibration_place(calibration, i, place);
        if (i == scene->selected)
            draw_disc(&view->sketch, place, radius + 2 * RIM, selected_paint);
        draw_disc(&view->sketch, place, radius, paint);
        draw_label(view, i, place, radius);
    }
}

// Draws the bird's-eye view, stretched to the board's height, and the rectangle in it.
static void draw_bird(struct calibrate_view *view, const struct calibrate_scene *scene)
{
    const struct rect *part = &view->bird;
    if (!scene->bird) {
        sketch_fill(&view->sketch, *part, empty_paint);
        return;
    }
    for (int y = 0; y < part->height; y++) {
        const uint8_t *from = image_row(scene->bird, 0, y * lane_view.rows / part->height);
        uint8_t *to = image_row(&view->board, 0, y) + 4 * (size_t)part->x;
        for (int x = 0; x < part->width; x++)
            memcpy(to + 4 * (size_t)x, from + 4 * (size_t)(x * lane_view.columns / part->width), 4);
    }
    const struct lane_camera *camera = &scene->calibration->camera;
    const double wide = camera->width / lane_view.across * part->width, middle = part->x + part->width / 2.0;
    const double down = part->height / (lane_view.far - lane_view.near);
    const double near = (lane_view.far - camera->near) * down, far = (lane_view.far - camera->far) * down;
    const double corner[4][2] = {
        {middle - wide / 2, near}, {middle + wide / 2, near}, {middle + wide / 2, far}, {middle - wide / 2, far}};
    for (int i = 0; i < 4; i++)
        draw_line(&view->sketch, part, corner[i], corner[(i + 1) % 4], RIM, rectangle_paint);
}

static void fill_overlay(struct overlay *overlay, const struct calibrate_scene *scene)
{
    const struct calibration *calibration = scene->calibration;
    const struct lane_camera *camera = &calibration->camera;
    const double *at = &camera->points[2 * scene->selected];
    const bool wrong = calibration->fault[0];
    overlay->size = scene->bare ? OVERLAY_OFF : OVERLAY_FULL;
    overlay->lines = 0;
    overlay_line(overlay, OVERLAY_STRONG, "%s: %.1f, %.1f%s", calibration_names[scene->selected], at[0], at[1],
                 scene->held ? " | held" : "");
    overlay_line(overlay, OVERLAY_PLAIN, "on the road: %g m wide, %g to %g m ahead", camera->width, camera->near,
                 camera->far);
    overlay_line(overlay, OVERLAY_DIM, "mouse, arrows: move | Tab: next | Space: hold");
    overlay_line(overlay, OVERLAY_DIM, "o: no text | Enter: write | q: quit");
    overlay->message_is_error = wrong || scene->message_is_error;
    if (!wrong || scene->message_is_error)
        snprintf(overlay->message, sizeof(overlay->message), "%s", scene->message);
    else
        snprintf(overlay->message, sizeof(overlay->message), "wrong points: %s", calibration->fault);
}

static struct scene board_scene(const struct calibrate_view *view)
{
    return (struct scene){
        .width = view->board.shape.width, .height = view->board.shape.height, .overlay = &view->overlay};
}

void calibrate_view_draw(struct calibrate_view *view, const struct calibrate_scene *what)
{
    for (int y = 0; y < view->picture.height; y++)
        memcpy(image_row(&view->board, 0, y), image_row(what->frame, 0, y), 4 * (size_t)view->picture.width);
    draw_points(view, what);
    draw_bird(view, what);
    fill_overlay(&view->overlay, what);
    const struct window_size size = window_size(view->window);
    struct scene scene = board_scene(view);
    scene.texture = renderer_upload(view->renderer, 0, &view->board);
    renderer_draw(view->renderer, &scene, &size);
    window_swap(view->window);
}

bool calibrate_view_event(struct calibrate_view *view, struct window_event *event)
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
