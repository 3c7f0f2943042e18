// display.h: the X server, which may go away under the window
#pragma once

#include <stdbool.h>

// From now on a connection to the X server that breaks sets *lost and is logged, where Xlib would end the process.
// Both happen within whatever call noticed it (GLFW's or GL's, so on the main thread), which then returns. After GLFW
// was initialised; nothing where GLFW or Xlib cannot do so (Wayland, libX11 before 1.7).
void display_watch(bool *lost);
