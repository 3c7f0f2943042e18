// window.h: one GLFW window with a GL context, and its events (main thread only)
#pragma once

#include "base/gl_handles.h"

#include <stdbool.h>
#include <stdint.h>

struct window;

// The window while it does not fill a monitor, in the units of the desktop.
struct window_area {
    int x, y, width, height;
    bool placed; // x and y are known; never on Wayland
};

struct window_setup {
    const char *title;
    int width, height;       // of the picture, and of the window at content scale 1; smaller if the monitor is
    struct window_area area; // wanted instead of this size; a place that no monitor shows is not used. width 0: none
    bool fullscreen;
    bool vsync;
    bool es;     // ES 3.0 only
    bool egl;    // over EGL only
    bool debug;  // request a debug context
    bool hidden; // never shown; only its GL context is used
};

struct window_size {
    int width, height; // framebuffer, pixels
    float scale;       // content scale (HiDPI), 1 on ordinary monitors
};

enum window_event_type {
    WINDOW_KEY,
    WINDOW_DRAG, // the pointer with the left button down
    WINDOW_WHEEL,
    WINDOW_DOUBLE_CLICK, // of the left button
    WINDOW_RIGHT_CLICK,
    WINDOW_DROP, // files were dropped into the window: window_dropped
    WINDOW_RESIZE,
    WINDOW_CLOSE,
};

struct window_event {
    enum window_event_type type;
    uint32_t key; // WINDOW_KEY: a Unicode character as typed ('+', 'q', ' '), or one of enum window_key
    uint32_t us;  // WINDOW_KEY: same key on a US keyboard if `key` is not ASCII; 0: unknown
    bool repeat;  // WINDOW_KEY: the key is being held down
    float x, y;   // WINDOW_DRAG, WINDOW_WHEEL, WINDOW_RIGHT_CLICK: the pointer, 0..1 across the framebuffer
    bool begins;  // WINDOW_DRAG: the button was pressed here
    bool control; // WINDOW_WHEEL: the Ctrl key is down
    int steps;    // WINDOW_WHEEL: up is positive
};

enum window_key {
    WINDOW_KEY_ESCAPE = 0x110000, // above every Unicode character
    WINDOW_KEY_TAB,
    WINDOW_KEY_ENTER, // also of the keypad
    WINDOW_KEY_LEFT,
    WINDOW_KEY_RIGHT,
    WINDOW_KEY_UP,
    WINDOW_KEY_DOWN,
    WINDOW_KEY_HOME,
    WINDOW_KEY_END,
    WINDOW_KEY_PAGE_UP,
    WINDOW_KEY_PAGE_DOWN,
    WINDOW_KEY_DELETE, // also Backspace
    WINDOW_KEY_F1,     // F1 to F12 follow one another
    WINDOW_KEY_F12 = WINDOW_KEY_F1 + 11,
};

// Enlarges the window of a small picture to a readable size, to a whole multiple of the picture's if possible.
void window_enlarge(struct window_setup *setup);

// Opens the window (one at a time) and makes its context current: the first that works of GL 3.3 core and ES 3.0, over
// GLX and then EGL. Returns NULL if there is no display or no such GL; `why`, if not NULL, then gets one line, and
// nothing is logged above LOG_INFO.
struct window *window_open(const struct window_setup *setup, char why[256]);
void window_close(struct window *window); // accepts NULL

// Returns true if the display was lost (logged). The caller must then use neither GL nor the window, except for
// window_close, nor close a path or a device that uses the GL context. The process must end and so frees them. With a
// hidden window, Xlib ends the process at once.
bool window_lost(const struct window *window); // NULL: false

// Returns the GL context's handles for an OpenCL device, and makes GLX and EGL visible to its driver. `window` NULL:
// all handles are NULL.
struct gl_handles window_gl_handles(const struct window *window);
// Returns the GL context for the gl path, borrowed until window_close. A path may bind it on any thread
// (compute/gl_context.h). NULL: NULL.
struct gl_context *window_gl(struct window *window);
struct window_size window_size(const struct window *window);
struct window_area window_area(const struct window *window); // also of a lost window
const char *window_gl_name(const struct window *window);     // "OpenGL 3.3 core over GLX: NVIDIA H200"

// Returns the oldest event. False: there is none. Never waits. Hides the pointer in full screen when it rests.
bool window_next_event(struct window *window, struct window_event *event);
// Returns the paths of the last WINDOW_DROP, one per line, valid until the next call of window_next_event; "" before
// one.
const char *window_dropped(const struct window *window);
void window_set_title(struct window *window, const char *title);
void window_set_vsync(struct window *window, bool vsync);
// In full screen, GLFW stops the screen saver of the X server, or asks the Wayland compositor to keep the screen on.
void window_set_fullscreen(struct window *window, bool fullscreen);
void window_swap(struct window *window);
