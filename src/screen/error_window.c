// error_window.c: an error in a window of its own
#include "screen/error_window.h"

#include "base/clock.h"
#include "base/process.h"
#include "screen/renderer.h"
#include "screen/window.h"

#include <stdio.h>

enum { WIDTH = 720, HEIGHT = 200, POLL_NS = 30000000 };

// Returns false when the user has closed the window.
static bool stays(struct window *window)
{
    struct window_event event;
    while (window_next_event(window, &event)) {
        if (event.type == WINDOW_CLOSE || event.type == WINDOW_KEY)
            return false;
    }
    return !window_lost(window) && !process_interrupted();
}

void error_window_show(const char *text)
{
    char why[256];
    struct overlay overlay = {.message_is_error = true};
    struct window *window =
        window_open(&(struct window_setup){.title = "monocle: error", .width = WIDTH, .height = HEIGHT}, why);
    struct renderer *renderer = window ? renderer_open() : NULL;
    snprintf(overlay.message, sizeof(overlay.message), "%.*s\n\nAny key closes this window.",
             (int)sizeof(overlay.message) - 40, text);
    while (renderer && stays(window)) {
        const struct window_size size = window_size(window);
        renderer_draw(renderer, &(struct scene){.overlay = &overlay}, &size);
        window_swap(window);
        clock_sleep_until_ns(clock_now_ns() + POLL_NS);
    }
    renderer_close(renderer);
    window_close(window);
}
