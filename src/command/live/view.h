// view.h: draws the panes' results and the overlay in the window. Main thread.
#pragma once

#include "control/status.h"
#include "screen/window.h"

struct view;

// Opens a view that draws in the window. The window's GL context must be current. Borrows the window and the keys. NULL
// on failure (logged).
struct view *view_open(struct window *window, const struct keys *keys);
void view_close(struct view *view); // accepts NULL; call before window_close
// Uploads results that are not textures yet, and measures each upload. False on failure (logged).
bool view_upload(struct view *view, const struct panes *panes, struct meter *meter);
void view_keep(struct view *view, struct panes *panes); // until the next upload, the picture outlives its path
// Draws, swaps, and measures both. `meter` NULL: a redraw, which is not measured. Returns the time after the swap.
int64_t view_draw(struct view *view, const struct status *status, struct meter *meter);
// As choice_list_row, for the list that was drawn last.
int view_choice(const struct view *view, float x, float y);
int view_choice_room(const struct view *view, const struct choice_list *list); // as choice_list_room
// Returns the screen pixels per pixel of the picture.
float view_scale(const struct view *view, const struct path_result *result, const struct settings *settings);
// A place in the picture: 0 to 1 from its left and top, below and above outside.
struct view_place {
    float at[2];
    float reach[2]; // how near to a point the pointer hits it
};
// Finds the place of the pointer at (x, y) of the window, 0 to 1. False: no picture is visible.
bool view_place(const struct view *view, const struct path_result *result, const struct settings *settings, float x,
                float y, struct view_place *place);
// Zooms by steps; the pointer stays at its place of the picture.
void view_zoom(const struct view *view, const struct path_result *result, struct settings *settings, int steps, float x,
               float y);
// Moves the zoomed picture by a part of the window.
void view_pan(const struct view *view, const struct path_result *result, struct settings *settings, float dx, float dy);
