// view.h: the window, with the panes' textures and the overlay. Main thread. Zeroed is closed.
#pragma once

#include "command/live/status.h"
#include "screen/renderer.h"

struct view {
    struct window *window; // NULL: none
    struct renderer *renderer;
    struct overlay overlay;
    unsigned texture[LANES]; // of each lane's last result; 0: none
    int64_t drawn_ns;        // when the window was last drawn
};

// Opens the window. If there is none, logs why unless `egl`, and leaves view->window NULL. `egl`: over EGL only. False:
// the window cannot be drawn to (logged).
bool view_open(struct view *view, const struct source_info *info, const struct wish *wish, bool egl);
// Call after the devices that share the window's GL context are closed.
void view_close(struct view *view);
// Uploads results that are not textures yet, and measures each upload. False on failure (logged).
bool view_upload(struct view *view, const struct lanes *lanes, struct meter *meter);
// Draws and swaps. Measures it as stages of `frame`; NULL: a redraw, which is not measured. `again`: the frame was
// shown before, so its age and interval do not count.
void view_draw(struct view *view, const struct status *status, struct meter *meter, const struct frame *frame,
               bool again);
// Finds the pointer's place across the picture, 0 to 1, from its place across the window. False: no picture is visible.
bool view_across(const struct view *view, const struct image_shape *shape, float x, float *across);

// overlay.c: writes the overlay's lines, stages and message. The overlay must have its `keys`.
void overlay_fill(struct overlay *overlay, const struct status *status);
