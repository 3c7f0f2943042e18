// lane_window.c: the window of the `lane` command
#include "command/lane/lane_window.h"

#include "command/lane/lane_report.h"
#include "command/lane/picture.h"
#include "image/convert.h"
#include "screen/renderer.h"
#include "screen/sketch.h"
#include "screen/window.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { TEXT = 160, LETTERS = 20, THICKNESS = 3 };

static const struct paint line_paint = {255, 60, 30, 230}, lane_paint = {40, 220, 80, 70};
static const struct paint text_paint = {255, 255, 255, 255}, panel_paint = {0, 0, 0, 150};

// A picture to show, and how to draw into it.
struct board {
    struct image image; // RGBA
    struct sketch sketch;
    int *y;                // its rows: 0, 1, ...
    double *x[LANE_LINES]; // of each line at each row
};

struct lane_window {
    struct window *window;
    struct renderer *renderer;
    struct board frame, bird;
    char key; // '1': the camera's picture; '2' and higher: the stages of the pipeline
};

static bool board_init(struct board *board, int width, int height)
{
    const struct image_shape shape = {.width = width, .height = height};
    bool ok = image_alloc(&board->image, &shape) && sketch_init(&board->sketch, &board->image, LETTERS);
    board->y = malloc((size_t)height * sizeof(*board->y));
    for (int i = 0; i < LANE_LINES; i++)
        ok = (board->x[i] = malloc((size_t)height * sizeof(*board->x[i]))) && ok;
    for (int y = 0; board->y && y < height; y++)
        board->y[y] = y;
    return ok && board->y;
}

static void board_finish(struct board *board)
{
    sketch_finish(&board->sketch);
    image_free(&board->image);
    free(board->y);
    for (int i = 0; i < LANE_LINES; i++)
        free(board->x[i]);
}

struct lane_window *lane_window_open(int width, int height, char why[256])
{
    struct lane_window *w = calloc(1, sizeof(*w));
    struct window_setup setup = {.title = "monocle lane", .width = width, .height = height, .vsync = true};
    snprintf(why, 256, "out of memory");
    window_enlarge(&setup);
    if (!w || !(w->window = window_open(&setup, why))) {
        free(w);
        return NULL;
    }
    w->key = '1';
    w->renderer = renderer_open();
    if (w->renderer && board_init(&w->frame, width, height) && board_init(&w->bird, lane_view.columns, lane_view.rows))
        return w;
    snprintf(why, 256, "GL or memory is not sufficient");
    lane_window_close(w);
    return NULL;
}

void lane_window_close(struct lane_window *w)
{
    if (!w)
        return;
    if (!window_lost(w->window))
        renderer_close(w->renderer);
    window_close(w->window);
    board_finish(&w->frame);
    board_finish(&w->bird);
    free(w);
}

bool lane_window_lost(const struct lane_window *w)
{
    return window_lost(w->window);
}

struct gl_context *lane_window_gl(struct lane_window *w)
{
    return w ? window_gl(w->window) : NULL;
}

// ---- drawing ----

// Draws the lines, whose x at each row is in the board, and the lane between those beside the camera.
static void draw_lines(const struct board *board, const struct lane_result *result)
{
    for (int y = 0; y < board->image.shape.height; y++) {
        const bool lane = result->left >= 0 && result->right >= 0;
        const double left = lane ? board->x[result->left][y] : LANE_ABSENT;
        const double right = lane ? board->x[result->right][y] : LANE_ABSENT;
        if (left >= 0 && right > left)
            sketch_fill(&board->sketch, (struct rect){(int)left, y, (int)(right - left), 1}, lane_paint);
        for (int i = 0; i < result->shape.lines; i++) {
            if (board->x[i][y] >= 0)
                sketch_fill(&board->sketch, (struct rect){(int)board->x[i][y] - THICKNESS / 2, y, THICKNESS, 1},
                            line_paint);
        }
    }
}

static void draw_text(const struct board *board, const struct lane_result *result, char key)
{
    static const char *const stages[] = {"camera", "bird's eye", "ridge", "threshold"};
    static const char *const states[] = {"no lane", "lane", "lane held"};
    const double offset = lane_offset(result), radius = lane_radius(result);
    char text[TEXT];
    int used = snprintf(text, sizeof(text), "%s | %s %.0f %%", stages[key - '1'], states[result->state],
                        100 * result->confidence);
    if (isfinite(offset))
        used += snprintf(text + used, sizeof(text) - (size_t)used, " | %.2f m %s", fabs(offset),
                         offset < 0 ? "left" : "right");
    if (isfinite(radius))
        snprintf(text + used, sizeof(text) - (size_t)used, " | radius %.0f m", radius);
    const int width = board->image.shape.width;
    sketch_fill(&board->sketch, (struct rect){0, 0, width, board->sketch.line}, panel_paint);
    sketch_text(&board->sketch, board->sketch.advance / 2, 0, text, text_paint);
}

static void draw_frame(struct board *board, const struct lane_pipeline *pipeline, const struct image *frame,
                       const struct lane_result *result)
{
    const struct image_shape *shape = &board->image.shape;
    convert_to_rgba(&board->image, frame);
    for (int i = 0; i < result->shape.lines; i++)
        lane_to_picture(&pipeline->map, &result->shape, result->shape.line[i].offset, shape->width, shape->height,
                        board->y, board->x[i]);
    draw_lines(board, result);
}

static void draw_bird(struct board *board, const struct image *stage, const struct lane_result *result)
{
    const struct lane_view *view = &lane_view;
    image_copy(&board->image, stage);
    for (int y = 0; y < view->rows; y++) {
        const double z = view->far - (y + 0.5) * (view->far - view->near) / view->rows;
        for (int i = 0; i < result->shape.lines; i++) {
            const double x = lane_x(&result->shape, result->shape.line[i].offset, z) / view->across + 0.5;
            board->x[i][y] = x >= 0 && x < 1 ? x * view->columns : LANE_ABSENT;
        }
    }
    draw_lines(board, result);
}

// Handles the keys. Returns false if the user quits.
static bool read_keys(struct lane_window *w)
{
    struct window_event event;
    while (window_next_event(w->window, &event)) {
        const uint32_t key = event.type == WINDOW_KEY ? event.key : 0;
        if (event.type == WINDOW_CLOSE || key == 'q' || key == WINDOW_KEY_ESCAPE)
            return false;
        if (key >= '1' && key <= '1' + LANE_STAGES)
            w->key = (char)key;
    }
    return !window_lost(w->window);
}

bool lane_window_show(struct lane_window *w, struct lane_pipeline *pipeline, const struct image *frame,
                      const struct lane_result *result)
{
    if (!read_keys(w))
        return false;
    const struct image *stage =
        w->key == '1' ? frame : lane_pipeline_stage(pipeline, frame, (enum lane_stage)(w->key - '2'));
    if (!stage)
        return false;
    struct board *board = w->key == '1' ? &w->frame : &w->bird;
    if (w->key == '1')
        draw_frame(board, pipeline, frame, result);
    else
        draw_bird(board, stage, result);
    draw_text(board, result, w->key);
    const struct scene scene = {.texture = renderer_upload(w->renderer, w->key == '1' ? 0 : 1, &board->image),
                                .width = board->image.shape.width,
                                .height = board->image.shape.height};
    const struct window_size size = window_size(w->window);
    renderer_draw(w->renderer, &scene, &size);
    window_swap(w->window);
    return true;
}
