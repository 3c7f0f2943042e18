// window_context.c: the GL contexts of the window, and the GLFW windows that own them
#include "screen/window_context.h"

#include "base/log.h"

#include <epoxy/egl.h>
#include <epoxy/gl.h>

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

#include <stdio.h>
#include <string.h>

// Kinds of contexts, best first.
struct context_kind {
    bool es, egl;
    const char *name;
};

static const struct context_kind context_kinds[] = {
    {false, false, "OpenGL 3.3"},
    {true, false, "OpenGL ES 3.0"},
    {false, true, "OpenGL 3.3 over EGL"},
    {true, true, "OpenGL ES 3.0 over EGL"},
};

void window_add_reason(char why[256], const char *what)
{
    const char *text = NULL;
    const int code = glfwGetError(&text);
    const size_t used = strlen(why);
    snprintf(why + used, 256 - used, "%s%s: %s", used ? "; " : "", what,
             code != GLFW_NO_ERROR && text ? text : "no reason given");
}

static bool bind_window(struct gl_context *gl, bool builder)
{
    struct window_context *context = (struct window_context *)gl;
    GLFWwindow *const owner = builder ? context->builder : context->window;
    const char *text = "there is none";
    if (builder) {
        pthread_mutex_lock(&context->lock);
        context->before = glfwGetCurrentContext();
    }
    glfwGetError(NULL);
    if (owner) {
        glfwMakeContextCurrent(owner);
        if (glfwGetError(&text) == GLFW_NO_ERROR)
            return true;
    }
    log_error("cannot make the %s GL context current: %s", builder ? "second" : "window's", text);
    if (builder)
        pthread_mutex_unlock(&context->lock);
    return false;
}

static void unbind_window(struct gl_context *gl, bool builder)
{
    struct window_context *context = (struct window_context *)gl;
    glfwMakeContextCurrent(builder ? context->before : NULL);
    if (builder)
        pthread_mutex_unlock(&context->lock);
}

static void set_hints(const struct context_kind *kind, bool debug)
{
    glfwDefaultWindowHints();
    glfwWindowHint(GLFW_CLIENT_API, kind->es ? GLFW_OPENGL_ES_API : GLFW_OPENGL_API);
    glfwWindowHint(GLFW_CONTEXT_CREATION_API, kind->egl ? GLFW_EGL_CONTEXT_API : GLFW_NATIVE_CONTEXT_API);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MAJOR, 3);
    glfwWindowHint(GLFW_CONTEXT_VERSION_MINOR, kind->es ? 0 : 3);
    if (!kind->es) {
        glfwWindowHint(GLFW_OPENGL_PROFILE, GLFW_OPENGL_CORE_PROFILE);
        glfwWindowHint(GLFW_OPENGL_FORWARD_COMPAT, GLFW_TRUE);
    }
    glfwWindowHint(GLFW_OPENGL_DEBUG_CONTEXT, debug);
    // Plain 8-bit RGB: with alpha, a compositor would blend the window; the other buffers are unused.
    glfwWindowHint(GLFW_ALPHA_BITS, 0);
    glfwWindowHint(GLFW_DEPTH_BITS, 0);
    glfwWindowHint(GLFW_STENCIL_BITS, 0);
    glfwWindowHint(GLFW_VISIBLE, GLFW_FALSE);
    glfwWindowHint(GLFW_AUTO_ICONIFY, GLFW_FALSE); // full screen stays when another monitor gets the focus
    glfwWindowHintString(GLFW_X11_CLASS_NAME, "monocle");
    glfwWindowHintString(GLFW_X11_INSTANCE_NAME, "monocle");
#ifdef GLFW_WAYLAND_APP_ID                                // GLFW 3.4
    glfwWindowHintString(GLFW_WAYLAND_APP_ID, "monocle"); // the name of the desktop entry
#endif
}

static void make_builder(struct window_context *context, bool debug)
{
    set_hints(context->kind, debug);
    context->builder = glfwCreateWindow(1, 1, "monocle builder", NULL, context->window);
    if (!context->builder) {
        char why[256] = "";
        window_add_reason(why, context->kind->name);
        log_info("cannot make a second GL context: %s", why);
    }
}

bool window_context_open(struct window_context *context, const struct window_setup *setup, int width, int height,
                         char why[256])
{
    *context = (struct window_context){.gl = {.bind = bind_window, .unbind = unbind_window}};
    pthread_mutex_init(&context->lock, NULL);
    for (size_t i = 0; !context->window && i < sizeof(context_kinds) / sizeof(*context_kinds); i++) {
        context->kind = &context_kinds[i];
        if ((setup->es && !context->kind->es) || (setup->egl && !context->kind->egl))
            continue;
        set_hints(context->kind, setup->debug);
        context->window = glfwCreateWindow(width, height, setup->title ? setup->title : "monocle", NULL, NULL);
        if (!context->window)
            window_add_reason(why, context->kind->name);
    }
    if (!context->window)
        return false;
    glfwMakeContextCurrent(context->window);
    context->egl = epoxy_has_egl() && eglGetCurrentContext() != EGL_NO_CONTEXT;
    gl_context_describe(&context->gl, !epoxy_is_desktop_gl(), (const char *)glGetString(GL_VERSION),
                        (const char *)glGetString(GL_RENDERER), context->egl ? "EGL" : "GLX");
    make_builder(context, setup->debug);
    return true;
}

void window_context_close(struct window_context *context)
{
    if (context->builder) {
        glfwMakeContextCurrent(context->window);
        gl_context_finish(&context->gl);
        glfwDestroyWindow(context->builder);
    }
    if (context->window) {
        glfwDestroyWindow(context->window);
        pthread_mutex_destroy(&context->lock);
    }
}
