// lane_window.c: the window of the `lane` command
#include "command/lane/lane_report.h"

#include "base/alloc.h"
#include "image/convert.h"
#include "lane/lane_camera.h"
#include "screen/canvas.h"
#include "screen/renderer.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { LETTERS = 14, THICKNESS = 3 };

static const struct paint line_paint = {255, 60, 30, 230}, lane_paint = {40, 220, 80, 70};

// ---- the search ----

enum { BASE = 24, HEIGHT = 150, POINT = 3, MARK = 3 }; // pixels: below the curve, of a full line, of a point and a mark

static const struct paint floor_paint = {255, 255, 255, 90};
static const struct paint area_paint = {60, 170, 255, 90}, curve_paint = {90, 200, 255, 255};
static const struct paint peak_paint = {255, 220, 0, 255}, label_paint = {0, 0, 0, 170};
static const struct paint band_paint = {60, 110, 255, 90};
static const struct paint seen_paint = {60, 230, 90, 255}, unseen_paint = {150, 150, 150, 255};

static int column_at(double x)
{
    return (int)floor((x / lane_view.across + 0.5) * lane_view.columns);
}

static double z_at(int row)
{
    return lane_view.far - (row + 0.5) * (lane_view.far - lane_view.near) / lane_view.rows;
}

static int strip_top(int strip)
{
    return strip * lane_view.rows / LANE_STRIPS;
}

// ---- marks ----

// Covers the stage with the marks of each strip.
static void trace_draw_marks(const struct sketch *sketch, const struct lane_trace *trace)
{
    sketch_fill(sketch, (struct rect){0, 0, lane_view.columns, lane_view.rows}, (struct paint){0, 0, 0, 255});
    for (int strip = 0; strip < LANE_STRIPS; strip++)
        for (int column = 0; column < lane_view.columns; column++) {
            const uint8_t grey = (uint8_t)(255 * trace->mark[strip][column]);
            const int top = strip_top(strip), height = strip_top(strip + 1) - top;
            if (grey > 0)
                sketch_fill(sketch, (struct rect){column, top, 1, height}, (struct paint){grey, grey, grey, 255});
        }
}

// ---- column sums ----

// Returns the row of the curve in a column.
static int curve_row(const struct lane_trace *trace, int column)
{
    const int row = lane_view.rows - BASE - (int)lroundf(trace->histogram[column] * HEIGHT);
    return row < lane_view.rows ? row : lane_view.rows - 1;
}

static void draw_curve(const struct sketch *sketch, const struct lane_trace *trace)
{
    const int base = lane_view.rows - BASE;
    sketch_fill(sketch, (struct rect){0, base, lane_view.columns, 1}, floor_paint);
    for (int column = 0, before = curve_row(trace, 0); column < lane_view.columns; column++) {
        const int row = curve_row(trace, column), top = row < before ? row : before;
        sketch_fill(sketch, (struct rect){column, row, 1, base - row}, area_paint);
        sketch_fill(sketch, (struct rect){column, top, 1, abs(row - before) + 2}, curve_paint);
        before = row;
    }
}

static void draw_peak(const struct sketch *sketch, const struct lane_trace *trace, double offset)
{
    const int column = (int)fmin(fmax(column_at(offset), 0), lane_view.columns - 1);
    const int top = curve_row(trace, column) - sketch->font.line - MARK;
    for (int row = 0; row < top; row++) {
        if (z_at(row) <= trace->reach)
            sketch_fill(sketch, (struct rect){column_at(lane_x(&trace->shape, offset, z_at(row))), row, 1, 1},
                        peak_paint);
    }
    char text[16];
    const int width = snprintf(text, sizeof(text), "%+.1f", offset) * sketch->font.advance;
    const int right = lane_view.columns - width, start = column - width / 2;
    const int left = (int)fmin(fmax(start, 0), right);
    sketch_fill(sketch, (struct rect){left, top, width, sketch->font.line}, label_paint);
    sketch_text(sketch, left, top, text, peak_paint);
    sketch_fill(sketch, (struct rect){column - MARK / 2, lane_view.rows - BASE + MARK, MARK, BASE - 2 * MARK},
                peak_paint);
}

// Draws the column sums of the near strips as a curve, and its peaks: a mark, the offset in metres, and the direction
// in which the strips were moved. The picture has lane_view's size.
static void trace_draw_sums(const struct sketch *sketch, const struct lane_trace *trace)
{
    draw_curve(sketch, trace);
    for (int i = 0; i < trace->shape.lines; i++)
        draw_peak(sketch, trace, trace->shape.line[i].offset);
}

// ---- windows ----

static void draw_outline(const struct sketch *sketch, struct rect rect, struct paint paint)
{
    sketch_fill(sketch, (struct rect){rect.x, rect.y, rect.width, 1}, paint);
    sketch_fill(sketch, (struct rect){rect.x, rect.y + rect.height - 1, rect.width, 1}, paint);
    sketch_fill(sketch, (struct rect){rect.x, rect.y + 1, 1, rect.height - 2}, paint);
    sketch_fill(sketch, (struct rect){rect.x + rect.width - 1, rect.y + 1, 1, rect.height - 2}, paint);
}

static struct rect box_rect(const struct lane_box *box, int strip)
{
    const int left = column_at(box->x - box->half), top = strip_top(strip);
    return (struct rect){left, top, column_at(box->x + box->half) + 1 - left, strip_top(strip + 1) - top};
}

// Draws the marks, and the band that the first fit searched.
static void trace_draw_bands(const struct sketch *sketch, const struct lane_trace *trace)
{
    trace_draw_marks(sketch, trace);
    for (int i = 0; i < trace->shape.lines; i++)
        for (int strip = 0; strip < LANE_STRIPS; strip++) {
            if (trace->band[i][strip].half > 0)
                sketch_fill(sketch, box_rect(&trace->band[i][strip], strip), band_paint);
        }
}

// Draws a box for each window of the last fit, and a point where the window shows its line.
static void trace_draw_windows(const struct sketch *sketch, const struct lane_trace *trace)
{
    for (int i = 0; i < trace->shape.lines; i++)
        for (int strip = 0; strip < LANE_STRIPS; strip++) {
            const struct lane_box *box = &trace->box[i][strip];
            const struct rect rect = box_rect(box, strip);
            if (box->half <= 0)
                continue;
            draw_outline(sketch, rect, box->seen ? seen_paint : unseen_paint);
            const int x = column_at(box->found) - POINT / 2, y = rect.y + (rect.height - POINT) / 2;
            if (box->seen)
                sketch_fill(sketch, (struct rect){x, y, POINT, POINT}, peak_paint);
        }
}

// ---- views ----

// Pictures of the pipeline: a stage, and a drawing of the search over it. View i has the key '2' + i.
static const struct {
    const char *name;
    enum lane_stage stage;
    int thickness;                                                              // of the lines, in pixels; 0: none
    void (*under)(const struct sketch *sketch, const struct lane_trace *trace); // before the lines
    void (*over)(const struct sketch *sketch, const struct lane_trace *trace);  // after the lines
} views[] = {
    {"bird's eye", LANE_BIRD, .thickness = THICKNESS},
    {"ridge", LANE_RIDGE, .thickness = 1},
    {"marks", LANE_RIDGE, .thickness = 1, .under = trace_draw_marks},
    {"column sums", LANE_BIRD, .over = trace_draw_sums},
    {"windows", LANE_RIDGE, .thickness = 1, .under = trace_draw_bands, .over = trace_draw_windows},
};
enum { VIEWS = sizeof(views) / sizeof(*views) };

struct lane_window {
    struct window *window;
    struct renderer *renderer;
    struct lane_board bird;
    int view;                // -1: the camera's picture
    struct renderer_box box; // of the last picture
    struct overlay overlay;
};

bool lane_board_init(struct lane_board *board, int width, int height)
{
    const struct image_shape shape = {.width = width, .height = height};
    board->y = xcalloc((size_t)height, sizeof(*board->y));
    for (int i = 0; i < LANE_LINES; i++)
        board->x[i] = xcalloc((size_t)height, sizeof(*board->x[i]));
    for (int y = 0; y < height; y++)
        board->y[y] = y;
    return image_alloc(&board->image, &shape) && sketch_init(&board->sketch, &board->image, LETTERS);
}

void lane_board_finish(struct lane_board *board)
{
    sketch_finish(&board->sketch);
    image_free(&board->image);
    free(board->y);
    for (int i = 0; i < LANE_LINES; i++)
        free(board->x[i]);
}

struct lane_window *lane_window_open(int width, int height, char why[256])
{
    struct lane_window *w = xalloc(sizeof(*w));
    struct window_setup setup = {.title = "monocle lane", .width = width, .height = height, .vsync = true};
    window_enlarge(&setup);
    w->window = window_open(&setup, why);
    if (!w->window) {
        free(w);
        return NULL;
    }
    w->view = -1;
    w->overlay.size = OVERLAY_SMALL;
    w->renderer = renderer_open();
    if (w->renderer && lane_board_init(&w->bird, lane_view.columns, lane_view.rows))
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
    lane_board_finish(&w->bird);
    free(w);
}

bool lane_window_lost(const struct lane_window *w)
{
    return window_lost(w->window);
}

struct window *lane_window_window(const struct lane_window *w)
{
    return w->window;
}

// ---- drawing ----

// Draws the lines, whose x at each row is in the board, and the lane between those beside the camera.
static void draw_lines(const struct lane_board *board, const struct lane_result *result, int thickness)
{
    for (int y = 0; y < board->image.shape.height; y++) {
        const bool lane = result->left >= 0 && result->right >= 0;
        const double left = lane ? board->x[result->left][y] : LANE_ABSENT;
        const double right = lane ? board->x[result->right][y] : LANE_ABSENT;
        if (left >= 0 && right > left)
            sketch_fill(&board->sketch, (struct rect){(int)left, y, (int)(right - left), 1}, lane_paint);
        for (int i = 0; i < result->shape.lines; i++) {
            if (board->x[i][y] >= 0)
                sketch_fill(&board->sketch, (struct rect){(int)board->x[i][y] - thickness / 2, y, thickness, 1},
                            line_paint);
        }
    }
}

static void fill_overlay(struct overlay *overlay, const char *view, const struct lane_result *result, bool known,
                         const struct lane_aim *aim)
{
    static const char *const states[] = {"no lane", "lane", "lane held"};
    const double offset = lane_offset(result), radius = lane_radius(result);
    char place[32] = "", bend[32] = "";
    if (isfinite(offset))
        snprintf(place, sizeof(place), " | %.2f m %s", fabs(offset), offset < 0 ? "left" : "right");
    if (isfinite(radius))
        snprintf(bend, sizeof(bend), " | radius %.0f m %s", fabs(radius), radius < 0 ? "left" : "right");
    overlay->lines = 0;
    overlay_line(overlay, OVERLAY_PLAIN, "%s | %s %.0f %%%s%s | %s | pitch %.1f", view, states[result->state],
                 100 * result->confidence, place, bend, known ? "tracked" : "searched", aim->pitch);
}

void lane_board_draw(struct lane_board *board, const struct lane_pipeline *pipeline, const struct image *frame,
                     const struct lane_result *result)
{
    const struct image_shape *shape = &board->image.shape;
    convert_to_rgba(&board->image, frame);
    for (int i = 0; i < result->shape.lines; i++)
        lane_to_picture(&pipeline->map, &result->shape, result->shape.line[i].offset, shape->width, shape->height,
                        board->y, board->x[i]);
    draw_lines(board, result, THICKNESS);
}

static void draw_bird(struct lane_board *board, const struct image *stage, int number, const struct lane_result *result,
                      const struct lane_trace *trace)
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
    if (views[number].under)
        views[number].under(&board->sketch, trace);
    if (views[number].thickness > 0)
        draw_lines(board, result, views[number].thickness);
    if (views[number].over)
        views[number].over(&board->sketch, trace);
}

bool lane_window_read_keys(struct lane_window *w, struct stream *s)
{
    struct window_event event;
    while (window_next_event(w->window, &event)) {
        const uint32_t key = event.type == WINDOW_KEY ? event.key : 0;
        if (event.type == WINDOW_CLOSE || key == 'q' || key == WINDOW_KEY_ESCAPE)
            return false;
        if (key >= '1' && key <= '1' + VIEWS)
            w->view = (int)key - '2';
        if (key == 'o' && !event.repeat)
            w->overlay.size = w->overlay.size == OVERLAY_OFF ? OVERLAY_SMALL : OVERLAY_OFF;
        if (event.type == WINDOW_DRAG && w->box.width > 0) {
            const float x = event.x * (float)window_size(w->window).width - w->box.x;
            s->settings.divider = fminf(fmaxf(x / w->box.width, 0), 1);
        }
        if (key == WINDOW_KEY_TAB && !event.repeat) {
            s->settings.split = s->settings.split == SPLIT_OFF ? SPLIT_ORIGINAL : SPLIT_OFF;
            panes_split_again(s->panes);
        }
    }
    return !window_lost(w->window);
}

bool lane_window_show(struct lane_window *w, struct lane_pipeline *pipeline, const struct image *frame,
                      const struct lane_board *drawn, const struct lane_result *result, const struct lane_trace *trace,
                      const struct lane_aim *aim, const struct stream *s)
{
    const bool camera = w->view < 0;
    const struct image *stage = camera ? NULL : lane_pipeline_stage(pipeline, frame, views[w->view].stage);
    if (!camera && !stage)
        return false;
    if (stage)
        draw_bird(&w->bird, stage, w->view, result, trace);
    const struct lane_board *board = camera ? drawn : &w->bird;
    fill_overlay(&w->overlay, camera ? "camera" : views[w->view].name, result, trace->known, aim);
    struct scene scene = {.texture = renderer_upload(w->renderer, camera ? 0 : 1, &board->image),
                          .width = board->image.shape.width,
                          .height = board->image.shape.height,
                          .divider = s->settings.divider,
                          .overlay = &w->overlay};
    const struct path_result *original = camera && panes_split(s->panes) ? panes_result(s->panes, PANE_OTHER) : NULL;
    if (original) {
        scene.right_texture = scene.texture;
        scene.texture = original->texture ? original->texture : renderer_upload(w->renderer, 1, &original->image);
    }
    const struct window_size size = window_size(w->window);
    w->box = renderer_picture_box(&scene, &size);
    renderer_draw(w->renderer, &scene, &size);
    window_swap(w->window);
    return true;
}
