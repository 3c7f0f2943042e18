// display.c: handles the loss of the X server or of the window, and makes GL visible to OpenCL drivers
#include "screen/display.h"

#include "base/log.h"

#include <dlfcn.h>
#include <string.h>

#include <X11/Xresource.h>
#include <X11/Xutil.h>

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

void display_watch(bool *lost)
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

void display_publish_gl(void)
{
    static const char *const names[] = {"libGLX.so.0", "libGL.so.1", "libEGL.so.1"};
    for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
        void *const library = dlopen(names[i], RTLD_LAZY | RTLD_NOLOAD | RTLD_GLOBAL);
        if (library)
            dlclose(library); // it stays global for as long as GLFW or libepoxy keeps it loaded
    }
}
