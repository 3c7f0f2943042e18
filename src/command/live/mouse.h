// mouse.h: carries out events of the mouse. Main thread.
#pragma once

#include <stdbool.h>

struct session;
struct window_event;

// The state of a drag. Zeroed is none. Only mouse.c uses the members.
struct mouse {
    bool pans;  // the drag moves the zoomed picture, else the divider
    float x, y; // where it was last
};

// Does nothing for an event that is not of the mouse.
void mouse_handle(struct session *session, const struct window_event *event);
