// gl_handles.h: a GL context as other layers see it: to bind it, and to share it with an OpenCL device
#pragma once

#include <stdbool.h>
#include <stddef.h>

// EGL or GLX, never both: the handles of the other one are NULL. All NULL: no GL context.
struct gl_handles {
    void *glx_context, *glx_display; // GLXContext and Display *
    void *egl_context, *egl_display; // EGLContext and EGLDisplay
};

enum { GL_NAME = 160 };

// A context of GL 3.3 core or ES 3.0, and a second one, the builder, which shares its textures, buffers and programs.
// The window has one, and compute/gl_context.h opens one without a window. It also declares the calls.
struct gl_context {
    char name[GL_NAME]; // "OpenGL 4.5 core over EGL: llvmpipe (LLVM 15.0.6, 256 bits)"
    bool software;      // a CPU draws
    void *kept;         // programs of the gl path, freed before the context closes; NULL: none
    void (*kept_free)(void *kept);
    bool (*bind)(struct gl_context *context, bool builder);
    void (*unbind)(struct gl_context *context, bool builder);
};

// Sets name and software. `version` and `renderer`: the texts of glGetString, or NULL. `over`: "GLX" or "EGL".
void gl_context_describe(struct gl_context *context, bool es, const char *version, const char *renderer,
                         const char *over);

// Mesa's driver for the CPU (22.3) crashes if a thread draws, copies or maps while another one draws, each in a context
// of its own. Hold this lock meanwhile; it locks only if a CPU draws. To bind another context is to draw, too. A thread
// holds the lock as long as it has the builder bound. The lock is not recursive.
void gl_software_lock(const struct gl_context *context);
void gl_software_unlock(const struct gl_context *context);

// Links two compiled shaders, and deletes them, also on failure. Returns the program, which the caller deletes. 0: a
// shader is 0, or linking failed; `why` gets the driver's reason.
unsigned gl_link(unsigned vertex, unsigned fragment, char *why, size_t size);

// Draws a pixel in the current context, with a program of its own. Returns true if the pixel is correct.
bool gl_context_draws(void);
// Frees `kept`. Call it with the first context bound, before the builder is closed.
void gl_context_finish(struct gl_context *context);
