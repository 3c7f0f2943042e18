// display.c: the X server, which may go away under the window, or the window alone
#include "screen/display.h"

#include "base/log.h"

#include <dlfcn.h>
#include <string.h>

#include <X11/Xresource.h>
#include <X11/Xutil.h>

// Weak: taken where the libraries in use have them. GLFW's own header for the first wants headers of further libraries.
extern Display *glfwGetX11Display(void) __attribute__((weak));
extern int (*XSetIOErrorHandler(int (*handler)(Display *display)))(Display *display) __attribute__((weak));
extern void XSetIOErrorExitHandler(Display *display, void (*handler)(Display *display, void *lost), void *lost)
    __attribute__((weak));

// Those that GLFW uses as well, which ld then does not always allow to be weak here.
struct xlib {
    __typeof__(&XSetErrorHandler) set_handler;
    __typeof__(&XGetErrorText) get_text;
    __typeof__(&XrmStringToQuark) quark;
    __typeof__(&XSaveContext) save;
    __typeof__(&XFindContext) find;
};

static const char kept[] = "monocle: lost"; // under which name Xlib keeps a display's `lost`

static bool take(void *function, const char *name)
{
    void *const found = dlsym(RTLD_DEFAULT, name);
    memcpy(function, &found, sizeof(found));
    return found != NULL;
}

static bool xlib_take(struct xlib *xlib)
{
    return take(&xlib->set_handler, "XSetErrorHandler") && take(&xlib->get_text, "XGetErrorText") &&
           take(&xlib->quark, "XrmStringToQuark") && take(&xlib->save, "XSaveContext") &&
           take(&xlib->find, "XFindContext");
}

// In place of Xlib's words.
static int say_lost(Display *display)
{
    log_error("the display %s is gone: its X server has ended, cannot be reached any more, or was told to cut monocle "
              "off",
              DisplayString(display));
    return 0;
}

// In place of Xlib's exit. From here on Xlib's calls fail without another word.
static void on_lost(Display *display, void *lost)
{
    *(bool *)lost = true;
}

// In place of Xlib's words and exit. The error may have come with a reply: no request may be made here.
static int on_error(Display *display, XErrorEvent *error)
{
    struct xlib xlib;
    char text[128] = "";
    XPointer lost = NULL;
    if (!xlib_take(&xlib))
        return 0; // it was there when this was set
    const bool watched = xlib.find(display, None, xlib.quark(kept), &lost) == 0;
    if (watched && *(bool *)lost)
        return 0; // what comes of the first one
    xlib.get_text(display, error->error_code, text, sizeof(text));
    if (!watched) {
        log_warn("the display %s refused a driver's request, %s", DisplayString(display), text);
        return 0;
    }
    log_error("the display %s refused a request, %s: another program may have destroyed the window",
              DisplayString(display), text);
    *(bool *)lost = true;
    return 0;
}

void display_watch(bool *lost)
{
    struct xlib xlib;
    Display *display = glfwGetX11Display && XSetIOErrorHandler && XSetIOErrorExitHandler ? glfwGetX11Display() : NULL;
    if (!display)
        return;
    XSetIOErrorHandler(say_lost);
    XSetIOErrorExitHandler(display, on_lost, lost);
    if (xlib_take(&xlib) && xlib.save(display, None, xlib.quark(kept), (const char *)lost) == 0)
        xlib.set_handler(on_error);
}
