// display.c: the X server, which may go away under the window
#include "screen/display.h"

#include "base/log.h"

#include <X11/Xlib.h>

// Weak: taken where the libraries in use have them. GLFW's own header for the first wants headers of further libraries.
extern Display *glfwGetX11Display(void) __attribute__((weak));
extern int (*XSetIOErrorHandler(int (*handler)(Display *display)))(Display *display) __attribute__((weak));
extern void XSetIOErrorExitHandler(Display *display, void (*handler)(Display *display, void *lost), void *lost)
    __attribute__((weak));

// In place of Xlib's words.
static int say_lost(Display *display)
{
    log_error("the display %s is gone: its X server has ended or cannot be reached any more", DisplayString(display));
    return 0;
}

// In place of Xlib's exit. From here on Xlib's calls fail without another word.
static void on_lost(Display *display, void *lost)
{
    *(bool *)lost = true;
}

void display_watch(bool *lost)
{
    Display *display = glfwGetX11Display && XSetIOErrorHandler && XSetIOErrorExitHandler ? glfwGetX11Display() : NULL;
    if (!display)
        return;
    XSetIOErrorHandler(say_lost);
    XSetIOErrorExitHandler(display, on_lost, lost);
}
