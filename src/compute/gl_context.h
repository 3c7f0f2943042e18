// gl_context.h: a GL context (3.3 core or ES 3.0) for the gl path, and a second one that shares its objects
#pragma once

#include "base/gl_handles.h"

// Opens a context without a window: on a GPU if EGL has one, otherwise on the CPU. `es`: ES 3.0 only. Tests it by
// drawing, and leaves it unbound. On any thread. NULL on failure: *why gets one line.
struct gl_context *gl_context_open(bool es, char why[256]);
void gl_context_close(struct gl_context *context); // accepts NULL; no thread may have it bound

// Makes the context current on this thread; with `builder`, the second context. With the builder, a thread builds
// programs and runs them once while another thread uses the first context. A context is current on one thread at a
// time. A second thread that binds the builder waits. False on failure (logged).
bool gl_context_bind(struct gl_context *context, bool builder);
// Opens a context without ES and makes it current on this thread. NULL on failure: `why` is one line.
struct gl_context *gl_context_open_current(char why[256]);
void gl_context_close_current(struct gl_context *context); // accepts NULL
// Ends gl_context_bind on the same thread. After the builder, the context before it is current again.
void gl_context_unbind(struct gl_context *context, bool builder);
