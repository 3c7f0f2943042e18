// window_place.c: where a window is, how large, and where it goes back to from full screen
#include "screen/window_place.h"

#include "screen/window.h"

#define GLFW_INCLUDE_NONE
#include <GLFW/glfw3.h>

enum { LEAST_WIDTH = 160, LEAST_HEIGHT = 120 }; // of a window that a user can see and take hold of

void window_enlarge(struct window_setup *setup)
{
    enum { READABLE_WIDTH = 320, READABLE_HEIGHT = 240 }; // the overlay has room for its figures
    const int across = READABLE_WIDTH / setup->width, down = READABLE_HEIGHT / setup->height;
    const int times = across < down ? across : down;
    setup->width *= times > 1 ? times : 1;
    setup->height *= times > 1 ? times : 1;
    setup->width = setup->width > LEAST_WIDTH ? setup->width : LEAST_WIDTH;
    setup->height = setup->height > LEAST_HEIGHT ? setup->height : LEAST_HEIGHT;
}

void window_place_fit(int *width, int *height)
{
    enum { FRAME_WIDTH = 16, FRAME_HEIGHT = 64 }; // borders and title bar; their size is not known before showing
    int x, y, room_width = 0, room_height = 0;
    GLFWmonitor *monitor = glfwGetPrimaryMonitor();
    if (!monitor)
        return;
    glfwGetMonitorWorkarea(monitor, &x, &y, &room_width, &room_height);
    if (room_width <= 0 || room_height <= 0 || (*width <= room_width && *height <= room_height))
        return;
    const double across = (double)(room_width - FRAME_WIDTH) / *width;
    const double down = (double)(room_height - FRAME_HEIGHT) / *height;
    const double scale = across < down ? across : down;
    *width = (int)(*width * scale) > LEAST_WIDTH ? (int)(*width * scale) : LEAST_WIDTH;
    *height = (int)(*height * scale) > LEAST_HEIGHT ? (int)(*height * scale) : LEAST_HEIGHT;
}

// The monitor that shows most of the window.
static GLFWmonitor *monitor_under(GLFWwindow *glfw)
{
    int x, y, width, height, count;
    glfwGetWindowPos(glfw, &x, &y);
    glfwGetWindowSize(glfw, &width, &height);
    GLFWmonitor **monitors = glfwGetMonitors(&count);
    GLFWmonitor *best = glfwGetPrimaryMonitor();
    int64_t best_area = 0;
    for (int i = 0; i < count; i++) {
        int left, top;
        glfwGetMonitorPos(monitors[i], &left, &top);
        const GLFWvidmode *mode = glfwGetVideoMode(monitors[i]);
        if (!mode)
            continue;
        const int right = x + width < left + mode->width ? x + width : left + mode->width;
        const int bottom = y + height < top + mode->height ? y + height : top + mode->height;
        const int across = right - (x > left ? x : left);
        const int down = bottom - (y > top ? y : top);
        const int64_t area = across > 0 && down > 0 ? (int64_t)across * down : 0;
        if (area > best_area) {
            best_area = area;
            best = monitors[i];
        }
    }
    return best;
}

void window_place_look(struct window_place *place, struct GLFWwindow *glfw)
{
    struct window_place now = {0};
    GLFWmonitor *monitor = monitor_under(glfw);
    const GLFWvidmode *mode = monitor ? glfwGetVideoMode(monitor) : NULL;
    glfwGetWindowPos(glfw, &now.x, &now.y);
    glfwGetWindowSize(glfw, &now.width, &now.height);
    place->fills = glfwGetWindowMonitor(glfw) || (mode && now.width >= mode->width && now.height >= mode->height);
    if (!place->fills || place->width == 0)
        *place = (struct window_place){now.x, now.y, now.width, now.height, place->fills};
}

void window_place_moved(struct window_place *place, struct GLFWwindow *glfw, int x, int y)
{
    if (place->fills || glfwGetWindowMonitor(glfw))
        return;
    place->x = x;
    place->y = y;
}

bool window_place_set_fullscreen(struct window_place *place, struct GLFWwindow *glfw, bool fullscreen)
{
    if (fullscreen == (glfwGetWindowMonitor(glfw) != NULL))
        return false;
    if (fullscreen) {
        GLFWmonitor *monitor = monitor_under(glfw);
        const GLFWvidmode *mode = monitor ? glfwGetVideoMode(monitor) : NULL;
        if (!mode)
            return false;
        window_place_look(place, glfw);
        glfwSetWindowMonitor(glfw, monitor, 0, 0, mode->width, mode->height, mode->refreshRate);
    } else {
        glfwSetWindowMonitor(glfw, NULL, place->x, place->y, place->width, place->height, GLFW_DONT_CARE);
    }
    return true;
}
