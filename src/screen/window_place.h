// window_place.h: where a window is, how large, and where it goes back to from full screen
#pragma once

#include <stdbool.h>

struct GLFWwindow;

struct window_place {
    int x, y, width, height; // when it last did not fill a monitor; width 0: never seen
    bool fills;              // a monitor, now: by us or by the window manager
};

// The picture's size, made smaller with its aspect kept where the monitor has less room; not too thin to see.
void window_place_fit(int *width, int *height);

// After the window was opened or has another size.
void window_place_look(struct window_place *place, struct GLFWwindow *glfw);
void window_place_moved(struct window_place *place, struct GLFWwindow *glfw, int x, int y);

// To full screen on the monitor that shows most of the window, or back to the place before. True where that is new.
bool window_place_set_fullscreen(struct window_place *place, struct GLFWwindow *glfw, bool fullscreen);
