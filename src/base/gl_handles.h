// gl_handles.h: the native handles of a GL context, with which an OpenCL device shares it
#pragma once

// EGL or GLX, never both: the handles of the other one are NULL. All NULL: no GL context.
struct gl_handles {
    void *glx_context, *glx_display; // GLXContext and Display *
    void *egl_context, *egl_display; // EGLContext and EGLDisplay
};
