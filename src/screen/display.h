// display.h: handles the loss of the X server or of the window, and makes GL visible to OpenCL drivers
#pragma once

#include <stdbool.h>

// From now on, a broken connection to the X server sets *lost and is logged, as is a request that the server rejects,
// for example because another program destroyed the window. Xlib alone would end the process. It happens on the main
// thread, in the call of GLFW or GL that notices it, and the call then returns. Call after GLFW was initialised. Does
// nothing on Wayland and with libX11 before 1.7.
void display_watch(bool *lost);

// Makes the functions of the loaded GL libraries (GLX, EGL) global symbols, in which some OpenCL drivers look them up.
// GLFW and libepoxy load them privately. Call after the GL context was made.
void display_publish_gl(void);
