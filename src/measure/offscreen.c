// offscreen.c: opens a hidden window and a device that shares with its GL context
#include "measure/offscreen.h"

struct opener {
    struct device *(*open)(void *context, const struct gl_handles *gl);
    void *context;
};

static void open_over(struct offscreen *offscreen, const struct opener *opener, bool egl)
{
    const struct window_setup setup = {.title = "monocle bench", .width = 64, .height = 64, .egl = egl, .hidden = true};
    offscreen_close(offscreen);
    offscreen->window = window_open(&setup, offscreen->why);
    const struct gl_handles gl = window_gl_handles(offscreen->window);
    offscreen->device = opener->open(opener->context, &gl);
}

static bool shares(const struct offscreen *offscreen)
{
    return offscreen->device && offscreen->device->shares_gl;
}

void offscreen_open(struct offscreen *offscreen, struct device *(*open)(void *context, const struct gl_handles *gl),
                    void *context)
{
    const struct opener opener = {open, context};
    *offscreen = (struct offscreen){0};
    device_drivers_start();
    open_over(offscreen, &opener, false);
    if (!offscreen->window || !offscreen->device || shares(offscreen) || offscreen->device->info.host_unified ||
        !window_gl_handles(offscreen->window).glx_context)
        return;
    open_over(offscreen, &opener, true);
    if (!shares(offscreen))
        open_over(offscreen, &opener, false);
}

void offscreen_close(struct offscreen *offscreen)
{
    device_close(offscreen->device); // first, because it uses the window's GL context
    window_close(offscreen->window);
    *offscreen = (struct offscreen){0};
}
