// display.h: the X server, which may go away under the window, or the window alone
#pragma once

#include <stdbool.h>

// From now on a connection to the X server that breaks, and a request that it refuses, since another program destroyed
// the window say, sets *lost and is logged, where Xlib would end the process. That happens within whatever call noticed
// it (GLFW's or GL's, so on the main thread), which then returns. After GLFW was initialised; nothing where GLFW or
// Xlib cannot do so (Wayland, libX11 before 1.7).
void display_watch(bool *lost);

// Makes the functions of the GL libraries in use (GLX, EGL) visible to OpenCL drivers, some of which look them up among
// the process's global symbols; GLFW and libepoxy load them privately. After the GL context was made.
void display_publish_gl(void);
