// view.c: draws the panes and the overlay
#include "command/live/view.h"

#include "base/alloc.h"
#include "base/clock.h"
#include "base/gl_handles.h"
#include "base/log.h"
#include "screen/renderer.h"

#include <math.h>
#include <stdlib.h>

struct view {
    struct window *window; // borrowed
    struct renderer *renderer;
    struct overlay overlay;
    unsigned texture[PANES]; // of each pane's last result; 0: none
};

struct view *view_open(struct window *window, const struct keys *keys)
{
    struct view *view = xalloc(sizeof(*view));
    view->window = window;
    view->overlay.keys = keys;
    view->renderer = renderer_open();
    if (view->renderer)
        return view;
    view_close(view);
    return NULL;
}

void view_close(struct view *view)
{
    if (!view)
        return;
    renderer_close(view->renderer);
    free(view);
}

bool view_upload(struct view *view, const struct panes *panes, struct meter *meter)
{
    bool ok = true;
    for (int i = 0; i < PANES; i++) {
        const struct path_result *result = panes_result(panes, i);
        view->texture[i] = result ? result->texture : 0;
        if (!result || view->texture[i])
            continue;
        const int64_t start = clock_now_ns();
        gl_software_lock(window_gl(view->window));
        view->texture[i] = renderer_upload(view->renderer, i, &result->image);
        if (meter->waits_upload)
            upload_wait();
        gl_software_unlock(window_gl(view->window));
        ok = ok && view->texture[i];
        meter_host(meter, "main", i == PANE_MAIN ? "texture upload" : "texture upload 2", start, clock_now_ns());
    }
    return ok;
}

static struct scene compose(const struct view *view, const struct status *status)
{
    const struct overlay *overlay = &view->overlay;
    const struct settings *settings = status->settings;
    // Before the first path is open, the window shows only the message.
    const bool silent = overlay->size == OVERLAY_OFF && !overlay->help && !overlay->message_is_trouble &&
                        !overlay->list.title[0] && status->pane.open && overlay->scope.curves == 0;
    struct scene scene = {
        .width = status->info->shape.width,
        .height = status->info->shape.height,
        .divider = settings->divider,
        .zoom = settings->zoom,
        .at_x = settings->zoom_x,
        .at_y = settings->zoom_y,
        .overlay = silent ? NULL : overlay,
    };
    if (status->pane.result) {
        scene.texture = view->texture[PANE_MAIN];
        scene.width = status->pane.result->width;
        scene.height = status->pane.result->height;
    }
    const unsigned other = status->other.result ? view->texture[PANE_OTHER] : 0;
    if (!status->split || !other)
        return scene;
    if (settings->split == SPLIT_PATH) {
        scene.right_texture = other;
    } else { // the original is on the left
        scene.right_texture = scene.texture;
        scene.texture = other;
    }
    return scene;
}

int64_t view_draw(struct view *view, const struct status *status, struct meter *meter)
{
    overlay_fill(&view->overlay, status);
    const struct scene scene = compose(view, status);
    const struct window_size size = window_size(view->window);
    const int64_t start_ns = clock_now_ns();
    gl_software_lock(window_gl(view->window));
    renderer_draw(view->renderer, &scene, &size);
    const int64_t drawn_ns = clock_now_ns();
    window_swap(view->window);
    gl_software_unlock(window_gl(view->window));
    const int64_t shown_ns = clock_now_ns();
    if (!meter)
        return shown_ns;
    meter_host(meter, "main", "draw", start_ns, drawn_ns);
    const int64_t gpu_ns = renderer_gpu_ns(view->renderer);
    if (gpu_ns >= 0) {
        const struct stage_time gpu = {.name = "draw on gpu", .clock = STAGE_DEVICE, .end_ns = gpu_ns};
        meter_add(meter, NULL, NULL, &gpu);
    }
    meter_host(meter, "main", "swap", drawn_ns, shown_ns);
    return shown_ns;
}

// Finds the picture's box in the window. False: no picture is visible.
static bool find_box(const struct view *view, const struct path_result *result, const struct settings *settings,
                     const struct window_size *size, struct renderer_box *box)
{
    const struct scene scene = {.width = result->width,
                                .height = result->height,
                                .zoom = settings->zoom,
                                .at_x = settings->zoom_x,
                                .at_y = settings->zoom_y};
    *box = renderer_picture_box(&scene, size);
    return box->width > 0;
}

int view_choice(const struct view *view, float x, float y)
{
    return renderer_choice(view->renderer, &view->overlay.list, x, y);
}

float view_scale(const struct view *view, const struct path_result *result, const struct settings *settings)
{
    const struct window_size size = window_size(view->window);
    struct renderer_box box;
    return find_box(view, result, settings, &size, &box) ? box.width / (float)result->width : 1;
}

void view_drag(const struct view *view, const struct path_result *result, struct settings *settings, float x)
{
    const struct window_size size = window_size(view->window);
    struct renderer_box box;
    if (!find_box(view, result, settings, &size, &box))
        return;
    const float at = (x * (float)size.width - box.x) / box.width;
    settings->divider = fminf(fmaxf(at, 0), 1);
}

bool view_at_divider(const struct view *view, const struct path_result *result, const struct settings *settings,
                     float x)
{
    enum { REACH_PX = 12 };
    const struct window_size size = window_size(view->window);
    struct renderer_box box;
    return find_box(view, result, settings, &size, &box) &&
           fabsf(x * (float)size.width - box.x - settings->divider * box.width) <= REACH_PX * size.scale;
}

// Moves the picture's point (x, y), 0 to 1, to the place (to_x, to_y) of the window, as far as the picture's sides
// allow.
static void place(const struct view *view, const struct path_result *result, struct settings *settings, float x,
                  float y, float to_x, float to_y)
{
    const struct window_size size = window_size(view->window);
    const float width = (float)size.width, height = (float)size.height;
    struct renderer_box box;
    if (!find_box(view, result, settings, &size, &box))
        return;
    settings->zoom_x = x + (0.5f - to_x) * width / box.width;
    settings->zoom_y = y + (0.5f - to_y) * height / box.height;
    find_box(view, result, settings, &size, &box);
    settings->zoom_x = (width / 2 - box.x) / box.width;
    settings->zoom_y = (height / 2 - box.y) / box.height;
}

void view_pan(const struct view *view, const struct path_result *result, struct settings *settings, float dx, float dy)
{
    place(view, result, settings, settings->zoom_x, settings->zoom_y, 0.5f + dx, 0.5f + dy);
}

void view_zoom(const struct view *view, const struct path_result *result, struct settings *settings, int steps, float x,
               float y)
{
    static const float step = 1.25f, most = 16; // of the image that fits the window
    const struct window_size size = window_size(view->window);
    struct renderer_box box;
    if (!find_box(view, result, settings, &size, &box))
        return;
    const float at_x = (x * (float)size.width - box.x) / box.width;
    const float at_y = (y * (float)size.height - box.y) / box.height;
    const float fit = view_scale(view, result, &(struct settings){0});
    const float zoom = view_scale(view, result, settings) * powf(step, (float)steps);
    settings->zoom = zoom < 1.01f * fit ? 0 : fminf(zoom, most * fit);
    place(view, result, settings, at_x, at_y, x, y);
}
