// offscreen.h: a hidden window for GL, and a device that shares with it if possible (main thread only)
#pragma once

#include "compute/device.h"
#include "screen/window.h"

struct offscreen {
    struct window *window; // NULL: none can be opened
    char why[256];         // the reason if there is no window
    struct device *device; // NULL: `open` returned none
};

// Opens a window and calls open(context, gl) for the device. As in the live view, a GPU that does not share over GLX
// gets a second try over EGL; `open` is then called again, with the device before closed.
void offscreen_open(struct offscreen *offscreen, struct device *(*open)(void *context, const struct gl_handles *gl),
                    void *context);
void offscreen_close(struct offscreen *offscreen); // accepts a zeroed one
