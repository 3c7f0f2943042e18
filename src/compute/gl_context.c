// gl_context.c: opens GL contexts without a window, over EGL
#include "compute/gl_context.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/text.h"

#include <dlfcn.h>
#include <epoxy/egl.h>
#include <epoxy/gl.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

enum { EGL_DEVICES_MAX = 16 };

struct bound {
    EGLDisplay display;
    EGLContext context;
    EGLSurface draw, read;
};

struct headless {
    struct gl_context base;
    EGLDisplay display; // never terminated, because contexts of the same GPU share it
    EGLenum api;
    EGLContext context, builder;
    pthread_mutex_t lock; // held while the builder is bound
    struct bound before;  // current before the builder was bound
};

static const char *egl_error(void)
{
    static const char *const names[] = {
        "no reason given",   "EGL_NOT_INITIALIZED", "EGL_BAD_ACCESS",        "EGL_BAD_ALLOC",
        "EGL_BAD_ATTRIBUTE", "EGL_BAD_CONFIG",      "EGL_BAD_CONTEXT",       "EGL_BAD_CURRENT_SURFACE",
        "EGL_BAD_DISPLAY",   "EGL_BAD_MATCH",       "EGL_BAD_NATIVE_PIXMAP", "EGL_BAD_NATIVE_WINDOW",
        "EGL_BAD_PARAMETER", "EGL_BAD_SURFACE",     "EGL_CONTEXT_LOST",
    };
    const EGLint code = eglGetError();
    const size_t index = (size_t)(code - EGL_SUCCESS);
    return index < sizeof(names) / sizeof(*names) ? names[index] : "unknown error";
}

// ---- binding ----

static struct bound bound_now(void)
{
    return (struct bound){eglGetCurrentDisplay(), eglGetCurrentContext(), eglGetCurrentSurface(EGL_DRAW),
                          eglGetCurrentSurface(EGL_READ)};
}

static bool make_current(const struct headless *headless, EGLContext context)
{
    // The API is a property of the thread.
    return eglBindAPI(headless->api) &&
           eglMakeCurrent(headless->display, EGL_NO_SURFACE, EGL_NO_SURFACE, context) == EGL_TRUE;
}

static bool bind_headless(struct gl_context *base, bool builder)
{
    struct headless *headless = (struct headless *)base;
    if (builder) {
        pthread_mutex_lock(&headless->lock);
        headless->before = bound_now();
    }
    if (make_current(headless, builder ? headless->builder : headless->context))
        return true;
    log_error("cannot make a GL context current: %s", egl_error());
    if (builder)
        pthread_mutex_unlock(&headless->lock);
    return false;
}

static void unbind_headless(struct gl_context *base, bool builder)
{
    struct headless *headless = (struct headless *)base;
    const struct bound before = builder ? headless->before : (struct bound){.context = EGL_NO_CONTEXT};
    if (before.context == EGL_NO_CONTEXT)
        make_current(headless, EGL_NO_CONTEXT);
    else if (!eglMakeCurrent(before.display, before.draw, before.read, before.context))
        log_error("cannot make a GL context current again: %s", egl_error());
    if (builder)
        pthread_mutex_unlock(&headless->lock);
}

// ---- opening ----

// libepoxy ends the process if it cannot load a library.
static bool libraries_exist(bool es)
{
    static const char *const names[][2] = {{"libOpenGL.so.0", "libGL.so.1"}, {"libGLESv2.so.2", "libGLESv2.so.2"}};
    for (int i = 0; i < 2; i++) {
        void *const library = dlopen(names[es][i], RTLD_LAZY | RTLD_LOCAL);
        if (library)
            dlclose(library);
        if (library)
            return true;
    }
    return false;
}

static void add_reason(char why[256], const char *display, const char *what)
{
    text_append(why, 256, "%s%s: %s", text_if(why[0], "; "), display, what);
}

// Makes both contexts. Returns NULL, or the reason of a failure.
static const char *make_contexts(struct headless *headless, bool es)
{
    const EGLint wanted[] = {EGL_SURFACE_TYPE, 0, EGL_RENDERABLE_TYPE, es ? EGL_OPENGL_ES3_BIT : EGL_OPENGL_BIT,
                             EGL_NONE};
    static const EGLint core_33[] = {
        EGL_CONTEXT_MAJOR_VERSION,           3,       EGL_CONTEXT_MINOR_VERSION, 3, EGL_CONTEXT_OPENGL_PROFILE_MASK,
        EGL_CONTEXT_OPENGL_CORE_PROFILE_BIT, EGL_NONE};
    static const EGLint es_30[] = {EGL_CONTEXT_MAJOR_VERSION, 3, EGL_CONTEXT_MINOR_VERSION, 0, EGL_NONE};
    const EGLint *attributes = es ? es_30 : core_33;
    EGLConfig config;
    EGLint count = 0;
    headless->api = es ? EGL_OPENGL_ES_API : EGL_OPENGL_API;
    if (!libraries_exist(es))
        return es ? "libGLESv2.so.2 is missing" : "libOpenGL.so.0 and libGL.so.1 are missing";
    if (!eglBindAPI(headless->api))
        return egl_error();
    if (!eglChooseConfig(headless->display, wanted, &config, 1, &count) || count == 0)
        return "no configuration";
    headless->context = eglCreateContext(headless->display, config, EGL_NO_CONTEXT, attributes);
    if (headless->context == EGL_NO_CONTEXT)
        return egl_error();
    headless->builder = eglCreateContext(headless->display, config, headless->context, attributes);
    return headless->builder != EGL_NO_CONTEXT ? NULL : egl_error();
}

static struct headless *open_kind(EGLDisplay display, const char *display_name, bool es, char why[256])
{
    struct headless *headless = xalloc(sizeof(*headless));
    *headless = (struct headless){.base = {.bind = bind_headless, .unbind = unbind_headless}, .display = display};
    pthread_mutex_init(&headless->lock, NULL);
    const struct gl_context unknown = {.software = true}; // until GL names its renderer
    gl_software_lock(&unknown);
    const struct bound before = bound_now();
    const char *fault = make_contexts(headless, es);
    if (!fault && !make_current(headless, headless->context))
        fault = egl_error();
    if (!fault) {
        gl_context_describe(&headless->base, es, (const char *)glGetString(GL_VERSION),
                            (const char *)glGetString(GL_RENDERER), "EGL");
        fault = gl_context_draws() ? NULL : "it draws wrong pixels";
        make_current(headless, EGL_NO_CONTEXT);
    }
    if (before.context != EGL_NO_CONTEXT)
        eglMakeCurrent(before.display, before.draw, before.read, before.context);
    gl_software_unlock(&unknown);
    if (!fault)
        return headless;
    char what[128];
    snprintf(what, sizeof(what), "%s: %s", es ? "OpenGL ES 3.0" : "OpenGL 3.3", fault);
    add_reason(why, display_name, what);
    gl_context_close(&headless->base);
    return NULL;
}

static struct headless *open_display(EGLDisplay display, const char *name, bool es, char why[256])
{
    EGLint major, minor;
    if (display == EGL_NO_DISPLAY || !eglInitialize(display, &major, &minor)) {
        add_reason(why, name, egl_error());
        return NULL;
    }
    struct headless *headless = es ? NULL : open_kind(display, name, false, why);
    return headless ? headless : open_kind(display, name, true, why);
}

// Keeps the better of two contexts: a GPU's, otherwise the first.
static struct headless *better(struct headless *first, struct headless *second)
{
    const bool replace = second && (!first || (first->base.software && !second->base.software));
    struct headless *worse = replace ? first : second;
    if (worse)
        gl_context_close(&worse->base);
    return replace ? second : first;
}

// Tries Mesa's choice first, then each device: EGL lists NVIDIA's GPUs only as devices.
struct gl_context *gl_context_open(bool es, char why[256])
{
    struct headless *best = NULL;
    EGLDeviceEXT devices[EGL_DEVICES_MAX];
    EGLint count = 0;
    why[0] = '\0';
    if (!epoxy_has_egl()) {
        snprintf(why, 256, "libEGL.so.1 is missing or has no driver");
        return NULL;
    }
    if (!epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_platform_base")) {
        snprintf(why, 256, "EGL has no driver, or only one for windows");
        return NULL;
    }
    if (epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_MESA_platform_surfaceless"))
        best = open_display(eglGetPlatformDisplayEXT(EGL_PLATFORM_SURFACELESS_MESA, EGL_DEFAULT_DISPLAY, NULL),
                            "surfaceless", es, why);
    if (epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_platform_device") &&
        (epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_device_enumeration") ||
         epoxy_has_egl_extension(EGL_NO_DISPLAY, "EGL_EXT_device_base")))
        eglQueryDevicesEXT(EGL_DEVICES_MAX, devices, &count);
    for (int i = 0; i < count && (!best || best->base.software); i++) {
        char name[32];
        snprintf(name, sizeof(name), "device %d", i);
        best = better(best,
                      open_display(eglGetPlatformDisplayEXT(EGL_PLATFORM_DEVICE_EXT, devices[i], NULL), name, es, why));
    }
    if (!best && !why[0])
        snprintf(why, 256, "EGL has no device");
    if (!best)
        return NULL;
    why[0] = '\0';
    log_debug("GL without a window: %s", best->base.name);
    return &best->base;
}

void gl_context_close(struct gl_context *context)
{
    struct headless *headless = (struct headless *)context;
    if (!headless)
        return;
    gl_software_lock(context);
    if (headless->builder && bind_headless(context, false)) {
        gl_context_finish(context);
        unbind_headless(context, false);
    }
    if (headless->builder)
        eglDestroyContext(headless->display, headless->builder);
    if (headless->context)
        eglDestroyContext(headless->display, headless->context);
    gl_software_unlock(context);
    pthread_mutex_destroy(&headless->lock);
    free(headless);
}

bool gl_context_bind(struct gl_context *context, bool builder)
{
    gl_software_lock(context);
    const bool bound = context->bind(context, builder);
    if (!bound || !builder)
        gl_software_unlock(context);
    return bound;
}

void gl_context_unbind(struct gl_context *context, bool builder)
{
    if (!builder)
        gl_software_lock(context);
    context->unbind(context, builder);
    gl_software_unlock(context);
}

struct gl_context *gl_context_open_current(char why[256])
{
    struct gl_context *context = gl_context_open(false, why);
    if (!context || gl_context_bind(context, false))
        return context;
    snprintf(why, 256, "%s cannot be made current", context->name);
    gl_context_close(context);
    return NULL;
}

void gl_context_close_current(struct gl_context *context)
{
    if (context)
        gl_context_unbind(context, false);
    gl_context_close(context);
}
