// window.c: a GLFW window: its GL context, its events, and the size and scale of the display
#include "screen/window.h"

#include "base/alloc.h"
#include "base/log.h"
#include "base/text.h"

#include <epoxy/gl.h> // before GLFW, which includes GL

#include <GLFW/glfw3.h>
#include <X11/Xresource.h>
#include <X11/Xutil.h>
#include <dlfcn.h>
#include <epoxy/egl.h>
#include <epoxy/glx.h>
#include <math.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- the display ----

// Weak, because GLFW may be built without X11. GLFW's header for it needs headers of more libraries.
extern Display *glfwGetX11Display(void) __attribute__((weak));

// Xlib's functions. GLFW 3.4 loads Xlib privately, so they are not global symbols.
struct xlib {
    __typeof__(&XSetIOErrorHandler) set_io_handler;
    void (*set_exit_handler)(Display *display, void (*handler)(Display *display, void *lost), void *lost);
    __typeof__(&XSetErrorHandler) set_handler;
    __typeof__(&XGetErrorText) get_text;
    __typeof__(&XrmStringToQuark) quark;
    __typeof__(&XSaveContext) save;
    __typeof__(&XFindContext) find;
};

static const char kept[] = "monocle: lost"; // the name under which Xlib stores a display's `lost`

static bool take(void *function, void *library, const char *name)
{
    void *const found = dlsym(library, name);
    memcpy(function, &found, sizeof(found));
    return found != NULL;
}

// Returns false if no libX11 is loaded, or one before 1.7.
static bool xlib_take(struct xlib *xlib)
{
    void *const library = dlopen("libX11.so.6", RTLD_NOW | RTLD_NOLOAD);
    if (!library)
        return false;
    const bool all = take(&xlib->set_io_handler, library, "XSetIOErrorHandler") &&
                     take(&xlib->set_exit_handler, library, "XSetIOErrorExitHandler") &&
                     take(&xlib->set_handler, library, "XSetErrorHandler") &&
                     take(&xlib->get_text, library, "XGetErrorText") &&
                     take(&xlib->quark, library, "XrmStringToQuark") && take(&xlib->save, library, "XSaveContext") &&
                     take(&xlib->find, library, "XFindContext");
    dlclose(library); // GLFW keeps it loaded
    return all;
}

// Replaces Xlib's message.
static int say_lost(Display *display)
{
    log_error("lost the display %s: its X server ended, became unreachable, or closed the connection "
              "to monocle",
              DisplayString(display));
    return 0;
}

// Replaces Xlib's exit. From now on, Xlib's calls fail silently.
static void on_lost(Display *display, void *lost)
{
    *(bool *)lost = true;
}

// Replaces Xlib's message and exit. It must not send a request, because the error may have arrived with a reply.
static int on_error(Display *display, XErrorEvent *error)
{
    struct xlib xlib;
    char text[128] = "";
    XPointer lost = NULL;
    if (!xlib_take(&xlib))
        return 0; // impossible: it was loaded when this handler was set
    const bool watched = xlib.find(display, None, xlib.quark(kept), &lost) == 0;
    if (watched && *(bool *)lost)
        return 0; // a consequence of the first error
    xlib.get_text(display, error->error_code, text, sizeof(text));
    if (!watched) {
        log_warn("the display %s rejected a request of a driver: %s", DisplayString(display), text);
        return 0;
    }
    log_error("the display %s rejected a request: %s; another program may have destroyed the window",
              DisplayString(display), text);
    *(bool *)lost = true;
    return 0;
}

// From now on, a broken connection to the X server sets *lost and is logged, as is a request that the server rejects,
// for example because another program destroyed the window. Xlib alone would end the process. It happens on the main
// thread, in the call of GLFW or GL that notices it, and the call then returns. Call after GLFW was initialised. Does
// nothing on Wayland and with libX11 before 1.7.
static void display_watch(bool *lost)
{
    struct xlib xlib;
    Display *display = glfwGetX11Display ? glfwGetX11Display() : NULL;
    if (!display || !xlib_take(&xlib))
        return;
    xlib.set_io_handler(say_lost);
    xlib.set_exit_handler(display, on_lost, lost);
    if (xlib.save(display, None, xlib.quark(kept), (const char *)lost) == 0)
        xlib.set_handler(on_error);
}

// Makes the functions of the loaded GL libraries (GLX, EGL) global symbols, in which some OpenCL drivers look them up.
// GLFW and libepoxy load them privately. Call after the GL context was made.
static void display_publish_gl(void)
{
    static const char *const names[] = {"libGLX.so.0", "libGL.so.1", "libEGL.so.1"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        void *const library = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
        if (library)
            dlclose(library); // it stays global for as long as GLFW or libepoxy keeps it loaded
    }
}

// ---- the context ----

struct window_context {
    struct gl_context gl;
    const struct context_kind *kind;
    struct GLFWwindow *window;  // the user's window owns the first context
    struct GLFWwindow *builder; // a hidden window owns the builder; NULL: GLFW cannot make it
    bool egl;                   // over EGL, otherwise over GLX
    pthread_mutex_t lock;       // held while the builder is bound
    struct GLFWwindow *before;  // owner of the context that was current before the builder
};

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

// Adds GLFW's last error to the reason.
static void window_add_reason(char why[256], const char *what)
{
    const char *text = NULL;
    const int code = glfwGetError(&text);
    text_append(why, 256, "%s%s: %s", text_if(why[0], "; "), what,
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

static void set_hints(const struct context_kind *kind, bool debug, bool scaled)
{
    glfwDefaultWindowHints();
    glfwWindowHint(GLFW_SCALE_TO_MONITOR, scaled);
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
    set_hints(context->kind, debug, false);
    context->builder = glfwCreateWindow(1, 1, "monocle builder", NULL, context->window);
    if (!context->builder) {
        char why[256] = "";
        window_add_reason(why, context->kind->name);
        log_info("cannot make a second GL context: %s", why);
    }
}

// Opens the window with the first kind of context that works, and makes it current. `scaled`: the size is multiplied by
// the monitor's content scale, where the desktop does not do this itself. False: none does, and `why` has the
// reasons.
static bool window_context_open(struct window_context *context, const struct window_setup *setup, int width, int height,
                                bool scaled, char why[256])
{
    *context = (struct window_context){.gl = {.bind = bind_window, .unbind = unbind_window}};
    pthread_mutex_init(&context->lock, NULL);
    for (size_t i = 0; !context->window && i < sizeof(context_kinds) / sizeof(*context_kinds); i++) {
        context->kind = &context_kinds[i];
        if ((setup->es && !context->kind->es) || (setup->egl && !context->kind->egl))
            continue;
        set_hints(context->kind, setup->debug, scaled);
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

// Accepts a zeroed one.
static void window_context_close(struct window_context *context)
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

// ---- the window ----

enum { EVENT_ROOM = 256 }; // far more than one frame's typing and dragging

struct window_place {
    struct window_area area; // before the window filled a monitor; width 0: not known yet
    bool fills;              // the window fills a monitor now, by us or by the window manager
};

struct window {
    struct window_context context;
    GLFWwindow *glfw; // context.window
    bool vsync;
    uint32_t us;    // character on a US keyboard for the key event being delivered
    bool repeating; // the key event being delivered is a repetition, and so is its character
    bool dragging;
    double x, y; // of the pointer at the event being delivered; GLFW only knows where the pointer is now
    double pressed_s, pressed_x, pressed_y; // last press of the left button; 0: none, or it ended a double click
    double wheel;                           // part of a step
    double pointed_s;                       // when the pointer moved or the window filled the monitor
    char *dropped;                          // paths of the last drop, one per line; NULL: none
    bool lost;                              // the display was lost
    struct window_place place;
    struct window_event event[EVENT_ROOM]; // ring
    int first, count;
};

// ---- size and place ----

enum { LEAST_WIDTH = 160, LEAST_HEIGHT = 120 }; // of a window that a user can see and move

// Shrinks the size to the monitor's room, with the same aspect ratio. `scaled`: GLFW will multiply it by the monitor's
// content scale.
static void fit_monitor(int *width, int *height, bool scaled)
{
    enum {
        FRAME_WIDTH = 16,
        FRAME_HEIGHT = 64
    }; // borders and title bar; their size is unknown until the window is shown
    int x, y, room_width = 0, room_height = 0;
    GLFWmonitor *monitor = glfwGetPrimaryMonitor();
    if (!monitor)
        return;
    glfwGetMonitorWorkarea(monitor, &x, &y, &room_width, &room_height);
    if (scaled) {
        float scale_x, scale_y;
        glfwGetMonitorContentScale(monitor, &scale_x, &scale_y);
        room_width = scale_x > 0 ? (int)((float)room_width / scale_x) : room_width;
        room_height = scale_y > 0 ? (int)((float)room_height / scale_y) : room_height;
    }
    if (room_width <= 0 || room_height <= 0 || (*width <= room_width && *height <= room_height))
        return;
    const double across = (double)(room_width - FRAME_WIDTH) / *width;
    const double down = (double)(room_height - FRAME_HEIGHT) / *height;
    const double scale = across < down ? across : down;
    *width = (int)(*width * scale) > LEAST_WIDTH ? (int)(*width * scale) : LEAST_WIDTH;
    *height = (int)(*height * scale) > LEAST_HEIGHT ? (int)(*height * scale) : LEAST_HEIGHT;
}

// Returns the monitor that shows most of the area, and its mode; both may be NULL. *shown is the number of pixels.
static GLFWmonitor *monitor_under(const struct window_area *area, const GLFWvidmode **best_mode, int64_t *shown)
{
    int count;
    GLFWmonitor **monitors = glfwGetMonitors(&count);
    GLFWmonitor *best = glfwGetPrimaryMonitor();
    *shown = 0;
    for (int i = 0; i < count; i++) {
        int left, top;
        glfwGetMonitorPos(monitors[i], &left, &top);
        const GLFWvidmode *mode = glfwGetVideoMode(monitors[i]);
        if (!mode)
            continue;
        const int area_right = area->x + area->width, area_bottom = area->y + area->height;
        const int right = area_right < left + mode->width ? area_right : left + mode->width;
        const int bottom = area_bottom < top + mode->height ? area_bottom : top + mode->height;
        const int across = right - (area->x > left ? area->x : left);
        const int down = bottom - (area->y > top ? area->y : top);
        const int64_t pixels = across > 0 && down > 0 ? (int64_t)across * down : 0;
        if (pixels > *shown) {
            *shown = pixels;
            best = monitors[i];
        }
    }
    *best_mode = best ? glfwGetVideoMode(best) : NULL;
    return best;
}

// Reads where the window is now. GLFW reports an error for the place on Wayland.
static struct window_area area_now(GLFWwindow *glfw)
{
    struct window_area area = {0};
    glfwGetError(NULL);
    glfwGetWindowPos(glfw, &area.x, &area.y);
    area.placed = glfwGetError(NULL) == GLFW_NO_ERROR;
    glfwGetWindowSize(glfw, &area.width, &area.height);
    return area;
}

static void place_look(struct window *window)
{
    struct window_place *place = &window->place;
    const struct window_area now = area_now(window->glfw);
    const GLFWvidmode *mode;
    int64_t shown;
    monitor_under(&now, &mode, &shown);
    place->fills =
        glfwGetWindowMonitor(window->glfw) || (mode && now.width >= mode->width && now.height >= mode->height);
    if (!place->fills || place->area.width == 0)
        place->area = now;
}

// Moves the new window to the wanted place, if the user can reach it there.
static void move_to(struct window *window, const struct window_area *wanted)
{
    const GLFWvidmode *mode;
    int64_t shown;
    struct window_area area = area_now(window->glfw);
    if (!wanted->placed || !area.placed)
        return;
    area.x = wanted->x;
    area.y = wanted->y;
    monitor_under(&area, &mode, &shown);
    if (shown >= (int64_t)LEAST_WIDTH * LEAST_HEIGHT)
        glfwSetWindowPos(window->glfw, wanted->x, wanted->y);
}

// ---- events ----

// Merges consecutive drags, turns of the wheel and resizes, so that only typing and clicks can fill the ring. Drops
// events when it is full.
static void push_event(struct window *window, struct window_event event)
{
    struct window_event *last = &window->event[(window->first + window->count + EVENT_ROOM - 1) % EVENT_ROOM];
    const bool same = window->count > 0 && last->type == event.type && event.type != WINDOW_KEY && !last->begins &&
                      !event.begins && last->control == event.control;
    if (same && event.type == WINDOW_WHEEL)
        event.steps += last->steps;
    if (same || (window->count == EVENT_ROOM && event.type == WINDOW_CLOSE)) {
        *last = event;
        return;
    }
    if (window->count == EVENT_ROOM)
        return;
    window->event[(window->first + window->count) % EVENT_ROOM] = event;
    window->count++;
}

static void on_character(GLFWwindow *glfw, unsigned character)
{
    struct window *window = glfwGetWindowUserPointer(glfw);
    const uint32_t us = character > '~' ? window->us : 0;
    push_event(window,
               (struct window_event){.type = WINDOW_KEY, .key = character, .us = us, .repeat = window->repeating});
}

// Returns the character of a key on a US keyboard, after which GLFW names its keys; 0: none.
static uint32_t us_character(int key, bool shift)
{
    if (key <= GLFW_KEY_SPACE || key > GLFW_KEY_GRAVE_ACCENT)
        return 0;
    if (shift && (key == GLFW_KEY_COMMA || key == GLFW_KEY_PERIOD))
        return key == GLFW_KEY_COMMA ? '<' : '>';
    return key >= GLFW_KEY_A && key <= GLFW_KEY_Z ? (uint32_t)(key - GLFW_KEY_A + 'a') : (uint32_t)key;
}

// Returns the enum window_key of a key without a character; 0: none.
static uint32_t special_key(int key)
{
    static const struct {
        int glfw;
        uint32_t key;
    } table[] = {
        {GLFW_KEY_ESCAPE, WINDOW_KEY_ESCAPE},   {GLFW_KEY_TAB, WINDOW_KEY_TAB},
        {GLFW_KEY_ENTER, WINDOW_KEY_ENTER},     {GLFW_KEY_KP_ENTER, WINDOW_KEY_ENTER},
        {GLFW_KEY_LEFT, WINDOW_KEY_LEFT},       {GLFW_KEY_RIGHT, WINDOW_KEY_RIGHT},
        {GLFW_KEY_UP, WINDOW_KEY_UP},           {GLFW_KEY_DOWN, WINDOW_KEY_DOWN},
        {GLFW_KEY_HOME, WINDOW_KEY_HOME},       {GLFW_KEY_END, WINDOW_KEY_END},
        {GLFW_KEY_PAGE_UP, WINDOW_KEY_PAGE_UP}, {GLFW_KEY_PAGE_DOWN, WINDOW_KEY_PAGE_DOWN},
        {GLFW_KEY_DELETE, WINDOW_KEY_DELETE},   {GLFW_KEY_BACKSPACE, WINDOW_KEY_DELETE},
    };
    for (size_t i = 0; i < sizeof(table) / sizeof(*table); i++) {
        if (table[i].glfw == key)
            return table[i].key;
    }
    if (key >= GLFW_KEY_F1 && key <= GLFW_KEY_F12)
        return WINDOW_KEY_F1 + (uint32_t)(key - GLFW_KEY_F1);
    return 0;
}

static void on_key(GLFWwindow *glfw, int key, int scancode, int action, int modifiers)
{
    struct window *window = glfwGetWindowUserPointer(glfw);
    window->repeating = action == GLFW_REPEAT;
    window->us = us_character(key, modifiers & GLFW_MOD_SHIFT);
    const uint32_t special = special_key(key);
    if (special && action != GLFW_RELEASE)
        push_event(window, (struct window_event){.type = WINDOW_KEY, .key = special, .repeat = window->repeating});
}

// Adds an event at the pointer's place.
static void push_at(struct window *window, struct window_event event)
{
    int width, height;
    glfwGetWindowSize(window->glfw, &width, &height); // the pointer's units; not always pixels
    if (width <= 0 || height <= 0)
        return;
    event.x = (float)(window->x / width);
    event.y = (float)(window->y / height);
    push_event(window, event);
}

// Returns true if the pointer is still at the place of the last press, to a few pixels.
static bool is_near_press(const struct window *window)
{
    static const double near = 6;
    return fabs(window->x - window->pressed_x) < near && fabs(window->y - window->pressed_y) < near;
}

// Returns true if this press follows a click so soon and so near that both are a double click.
static bool is_double(struct window *window)
{
    static const double soon_s = 0.4;
    const double now = glfwGetTime();
    const bool twice = window->pressed_s > 0 && now - window->pressed_s < soon_s && is_near_press(window);
    window->pressed_s = twice ? 0 : now;
    window->pressed_x = window->x;
    window->pressed_y = window->y;
    return twice;
}

// GLFW would return the pointer's place now, which may be far from the place of this event.
static void on_button(GLFWwindow *glfw, int button, int action, int modifiers)
{
    struct window *window = glfwGetWindowUserPointer(glfw);
    const bool pressed = action == GLFW_PRESS;
    if (button == GLFW_MOUSE_BUTTON_RIGHT && pressed)
        push_at(window, (struct window_event){.type = WINDOW_RIGHT_CLICK});
    if (button != GLFW_MOUSE_BUTTON_LEFT)
        return;
    window->dragging = pressed && !is_double(window);
    if (window->dragging)
        push_at(window, (struct window_event){.type = WINDOW_DRAG, .begins = true});
    else if (pressed)
        push_event(window, (struct window_event){.type = WINDOW_DOUBLE_CLICK});
}

static void on_wheel(GLFWwindow *glfw, double across, double up)
{
    struct window *window = glfwGetWindowUserPointer(glfw);
    window->wheel += up; // touchpads send parts of a step
    const int steps = (int)window->wheel;
    if (steps == 0)
        return;
    window->wheel -= steps;
    const bool control = glfwGetKey(glfw, GLFW_KEY_LEFT_CONTROL) || glfwGetKey(glfw, GLFW_KEY_RIGHT_CONTROL);
    push_at(window, (struct window_event){.type = WINDOW_WHEEL, .steps = steps, .control = control});
}

static void on_drop(GLFWwindow *glfw, int count, const char **paths)
{
    struct window *window = glfwGetWindowUserPointer(glfw);
    size_t bytes = 1;
    for (int i = 0; i < count; i++)
        bytes += strlen(paths[i]) + 1;
    if (count == 0)
        return;
    char *dropped = xalloc(bytes), *end = dropped;
    for (int i = 0; i < count; i++)
        end += sprintf(end, "%s%s", i > 0 ? "\n" : "", paths[i]);
    free(window->dropped);
    window->dropped = dropped;
    push_event(window, (struct window_event){.type = WINDOW_DROP});
}

// Hides a resting pointer in full screen.
static void show_pointer(const struct window *window)
{
    static const double rest_s = 3;
    const bool hidden = glfwGetWindowMonitor(window->glfw) && glfwGetTime() - window->pointed_s > rest_s;
    const int mode = hidden ? GLFW_CURSOR_HIDDEN : GLFW_CURSOR_NORMAL;
    if (mode != glfwGetInputMode(window->glfw, GLFW_CURSOR))
        glfwSetInputMode(window->glfw, GLFW_CURSOR, mode);
}

static void on_pointer(GLFWwindow *glfw, double x, double y)
{
    struct window *window = glfwGetWindowUserPointer(glfw);
    window->pointed_s = glfwGetTime();
    window->x = x;
    window->y = y;
    if (!is_near_press(window))
        window->pressed_s = 0; // the pointer has moved away, so a second click is no double click
    if (window->dragging)
        push_at(window, (struct window_event){.type = WINDOW_DRAG});
}

static void on_resize(GLFWwindow *glfw, int width, int height)
{
    struct window *window = glfwGetWindowUserPointer(glfw);
    push_event(window, (struct window_event){.type = WINDOW_RESIZE});
    if (!window->lost)
        place_look(window);
}

static void on_move(GLFWwindow *glfw, int x, int y)
{
    struct window *window = glfwGetWindowUserPointer(glfw);
    if (window->place.fills || glfwGetWindowMonitor(glfw))
        return;
    window->place.area.x = x;
    window->place.area.y = y;
}

static void on_close(GLFWwindow *glfw)
{
    glfwSetWindowShouldClose(glfw, GLFW_FALSE); // the program decides
    push_event(glfwGetWindowUserPointer(glfw), (struct window_event){.type = WINDOW_CLOSE});
}

// ---- opening and closing ----

// GLFW 3.4 tries Wayland first. Without a Wayland server, libwayland then prints an error of its own. NVIDIA's OpenCL
// shares textures only over GLX, so its users get a window of XWayland if that works. GLFW 3.3 has one platform.
static bool start_glfw(void)
{
#ifdef GLFW_PLATFORM
    const char *wayland = getenv("WAYLAND_DISPLAY"), *x11 = getenv("DISPLAY");
    const bool on_wayland = wayland && *wayland;
    const bool nvidia = x11 && *x11 && access("/proc/driver/nvidia/version", F_OK) == 0;
    glfwInitHint(GLFW_PLATFORM, on_wayland && !nvidia ? GLFW_ANY_PLATFORM : GLFW_PLATFORM_X11);
    if (!on_wayland || !nvidia || glfwInit())
        return glfwInit(); // does nothing if it is initialised
    glfwInitHint(GLFW_PLATFORM, GLFW_ANY_PLATFORM);
#endif
    return glfwInit();
}

void window_enlarge(struct window_setup *setup)
{
    enum { READABLE_WIDTH = 320, READABLE_HEIGHT = 240 }; // the overlay has room for its numbers
    const int across = READABLE_WIDTH / setup->width, down = READABLE_HEIGHT / setup->height;
    const int times = across < down ? across : down;
    setup->width *= times > 1 ? times : 1;
    setup->height *= times > 1 ? times : 1;
    setup->width = setup->width > LEAST_WIDTH ? setup->width : LEAST_WIDTH;
    setup->height = setup->height > LEAST_HEIGHT ? setup->height : LEAST_HEIGHT;
}

struct window *window_open(const struct window_setup *setup, char why[256])
{
    char reason[256] = "";
    struct window *window = xalloc(sizeof(*window));
    if (!start_glfw()) {
        window_add_reason(reason, "cannot open the display");
        goto fail;
    }
    const bool wanted = setup->area.width > 0 && setup->area.height > 0;
    int width = setup->width, height = setup->height;
    if (wanted) {
        width = setup->area.width;
        height = setup->area.height;
    }
    fit_monitor(&width, &height, !wanted);
    if (!window_context_open(&window->context, setup, width, height, !wanted, reason))
        goto fail;
    window->glfw = window->context.window;
    glfwSetWindowUserPointer(window->glfw, window);
    glfwSetCharCallback(window->glfw, on_character);
    glfwSetKeyCallback(window->glfw, on_key);
    glfwSetMouseButtonCallback(window->glfw, on_button);
    glfwSetCursorPosCallback(window->glfw, on_pointer);
    glfwSetScrollCallback(window->glfw, on_wheel);
    glfwSetDropCallback(window->glfw, on_drop);
    glfwSetFramebufferSizeCallback(window->glfw, on_resize);
    glfwSetWindowPosCallback(window->glfw, on_move);
    glfwSetWindowCloseCallback(window->glfw, on_close);
    move_to(window, &setup->area);
    place_look(window);
    window_set_vsync(window, setup->vsync);
    if (!setup->fullscreen && !setup->hidden)
        display_watch(&window->lost); // before other programs see it
    if (!setup->hidden)
        glfwShowWindow(window->glfw);
    if (setup->fullscreen) {
        window_set_fullscreen(window, true);
        display_watch(&window->lost); // not before: GLFW would wait forever for a destroyed window
    }
    glfwGetCursorPos(window->glfw, &window->x, &window->y);
    log_debug("window: %s", window->context.gl.name);
    return window;
fail:
    if (why)
        snprintf(why, 256, "%s", reason);
    log_info("cannot open a window: %s", reason);
    window_close(window);
    return NULL;
}

void window_close(struct window *window)
{
    if (!window || window->lost)
        return;
    window_context_close(&window->context);
    glfwTerminate(); // also correct after glfwInit failed
    free(window->dropped);
    free(window);
}

bool window_lost(const struct window *window)
{
    return window && window->lost;
}

struct gl_handles window_gl_handles(const struct window *window)
{
    if (!window)
        return (struct gl_handles){0};
    display_publish_gl();
    if (window->context.egl)
        return (struct gl_handles){.egl_context = eglGetCurrentContext(), .egl_display = eglGetCurrentDisplay()};
    return (struct gl_handles){.glx_context = glXGetCurrentContext(), .glx_display = glXGetCurrentDisplay()};
}

struct gl_context *window_gl(struct window *window)
{
    return window ? &window->context.gl : NULL;
}

struct window_size window_size(const struct window *window)
{
    struct window_size size = {0};
    float scale_y;
    glfwGetFramebufferSize(window->glfw, &size.width, &size.height);
    glfwGetWindowContentScale(window->glfw, &size.scale, &scale_y);
    if (window->lost) // GLFW then returns nothing and reports no error
        size = (struct window_size){1, 1, 1};
    return size;
}

struct window_area window_area(const struct window *window)
{
    return window->place.area;
}

const char *window_gl_name(const struct window *window)
{
    return window->context.gl.name;
}

bool window_next_event(struct window *window, struct window_event *event)
{
    if (window->count == 0 && !window->lost) {
        glfwPollEvents();
        if (!window->lost)
            show_pointer(window);
    }
    if (window->count == 0 || window->lost)
        return false;
    *event = window->event[window->first];
    window->first = (window->first + 1) % EVENT_ROOM;
    window->count--;
    return true;
}

const char *window_dropped(const struct window *window)
{
    return window->dropped ? window->dropped : "";
}

void window_set_title(struct window *window, const char *title)
{
    if (!window->lost)
        glfwSetWindowTitle(window->glfw, title);
}

void window_set_vsync(struct window *window, bool vsync)
{
    window->vsync = vsync;
    glfwSwapInterval(vsync ? 1 : 0);
}

void window_set_fullscreen(struct window *window, bool fullscreen)
{
    const struct window_area *area = &window->place.area;
    if (fullscreen == (glfwGetWindowMonitor(window->glfw) != NULL))
        return;
    if (fullscreen) {
        const struct window_area now = area_now(window->glfw);
        const GLFWvidmode *mode;
        int64_t shown;
        GLFWmonitor *monitor = monitor_under(&now, &mode, &shown);
        if (!mode)
            return;
        place_look(window);
        window->pointed_s = glfwGetTime();
        glfwSetWindowMonitor(window->glfw, monitor, 0, 0, mode->width, mode->height, mode->refreshRate);
    } else {
        glfwSetWindowMonitor(window->glfw, NULL, area->x, area->y, area->width, area->height, GLFW_DONT_CARE);
    }
    window_set_vsync(window, window->vsync); // some drivers forget the interval with the mode
}

void window_swap(struct window *window)
{
    if (!window->lost)
        glfwSwapBuffers(window->glfw);
}
