// window_context.h: the GL contexts of the window, and the GLFW windows that own them (main thread, except binding)
#pragma once

#include "screen/window.h"

#include <pthread.h>

struct GLFWwindow;

struct window_context {
    struct gl_context gl;
    const struct context_kind *kind;
    struct GLFWwindow *window;  // the user's window owns the first context
    struct GLFWwindow *builder; // a hidden window owns the builder; NULL: GLFW cannot make it
    bool egl;                   // over EGL, otherwise over GLX
    pthread_mutex_t lock;       // held while the builder is bound
    struct GLFWwindow *before;  // owner of the context that was current before the builder
};

// Adds GLFW's last error to the reason.
void window_add_reason(char why[256], const char *what);
// Opens the window with the first kind of context that works, and makes it current. False: none does, and `why` has the
// reasons.
bool window_context_open(struct window_context *context, const struct window_setup *setup, int width, int height,
                         char why[256]);
void window_context_close(struct window_context *context); // accepts a zeroed one
