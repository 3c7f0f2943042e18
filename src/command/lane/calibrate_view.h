// calibrate_view.h: the window of `lane --calibrate`: the camera's picture with the points, and the bird's-eye view
#pragma once

#include "image/image.h"
#include "lane/calibration.h"
#include "screen/window.h"

struct calibrate_view;

// What the window shows.
struct calibrate_scene {
    const struct calibration *calibration;
    const struct image *frame; // RGBA
    const struct image *bird;  // RGBA of lane_view's size; NULL: there is none
    int selected;              // point
    bool held;                 // the picture stands still
    bool bare;                 // no text but the message
    const char *message;       // the latest one; "": none
    bool message_is_error;
};

// Opens the window for pictures of this size. Returns NULL if it cannot be opened, with one line in `why`.
struct calibrate_view *calibrate_view_open(int width, int height, char why[256]);
void calibrate_view_close(struct calibrate_view *view); // accepts NULL
void calibrate_view_draw(struct calibrate_view *view, const struct calibrate_scene *scene);
// Returns the oldest event; WINDOW_DRAG has its place in pixels of the picture. False: there is none.
bool calibrate_view_event(struct calibrate_view *view, struct window_event *event);
bool calibrate_view_lost(const struct calibrate_view *view); // the display was lost (logged)
