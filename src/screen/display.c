// display.c: the X server, which may go away under the window, or the window alone
#include "screen/display.h"

#include "base/log.h"

#include <X11/Xresource.h>
#include <X11/Xutil.h>

// Weak: taken where the libraries in use have them. GLFW's own header for the first wants headers of further libraries.
#pragma weak XSetIOErrorHandler
#pragma weak XSetErrorHandler
#pragma weak XGetErrorText
#pragma weak XrmStringToQuark
#pragma weak XSaveContext
#pragma weak XFindContext
extern Display *glfwGetX11Display(void) __attribute__((weak));
extern void XSetIOErrorExitHandler(Display *display, void (*handler)(Display *display, void *lost), void *lost)
    __attribute__((weak));

static const char kept[] = "monocle: lost"; // under which name Xlib keeps a display's `lost`

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
    char text[128] = "";
    XPointer lost = NULL;
    const bool watched = XFindContext(display, None, XrmStringToQuark(kept), &lost) == 0;
    if (watched && *(bool *)lost)
        return 0; // what comes of the first one
    XGetErrorText(display, error->error_code, text, sizeof(text));
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
    Display *display = glfwGetX11Display && XSetIOErrorHandler && XSetIOErrorExitHandler ? glfwGetX11Display() : NULL;
    if (!display)
        return;
    XSetIOErrorHandler(say_lost);
    XSetIOErrorExitHandler(display, on_lost, lost);
    if (XGetErrorText && XrmStringToQuark && XFindContext && XSaveContext && XSetErrorHandler &&
        XSaveContext(display, None, XrmStringToQuark(kept), (const char *)lost) == 0)
        XSetErrorHandler(on_error);
}
