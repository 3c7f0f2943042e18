// age.c: a software camera that draws the time into its frames, and a reader that measures their age on the screen
//
//   age feed NODE WIDTH HEIGHT FPS   writes such frames to a V4L2 output device until it is stopped
//   age look SECONDS                 finds a window on the X display that shows such frames, and reads it for SECONDS
//
// A frame is 32 vertical bars, black or white: the bits of its time, in units of 0.1 ms, and of a checksum. `look`
// prints one line per reading: its time and the age of the frame, both in milliseconds.
#include "base/clock.h"

#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/videodev2.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <unistd.h>

enum { BITS = 32, TIME_BITS = 24, BLACK = 16, WHITE = 235, NEUTRAL = 128 };
enum { NS_PER_UNIT = 100000, UNITS_PER_MS = 10, LOOK_NS = NS_PER_S / 60, FIND_S = 300 };
static const uint32_t time_mask = (1u << TIME_BITS) - 1;

static uint32_t units(int64_t time_ns)
{
    return (uint32_t)(time_ns / NS_PER_UNIT) & time_mask;
}

// The bits of the time and of an 8-bit checksum, which excludes other windows and torn frames.
static uint32_t code_of(uint32_t time)
{
    return time << (BITS - TIME_BITS) | ((time * 2654435761u) >> TIME_BITS);
}

static int feed(const char *node, int width, int height, int fps)
{
    const int fd = open(node, O_WRONLY);
    const size_t row_bytes = 2 * (size_t)width, size = row_bytes * (size_t)height;
    struct v4l2_format format = {.type = V4L2_BUF_TYPE_VIDEO_OUTPUT};
    format.fmt.pix.width = (uint32_t)width;
    format.fmt.pix.height = (uint32_t)height;
    format.fmt.pix.pixelformat = V4L2_PIX_FMT_YUYV;
    format.fmt.pix.field = V4L2_FIELD_NONE;
    struct v4l2_streamparm rate = {.type = V4L2_BUF_TYPE_VIDEO_OUTPUT};
    rate.parm.output.timeperframe = (struct v4l2_fract){1, (uint32_t)fps};
    uint8_t *picture = malloc(size);
    if (fd < 0 || !picture || ioctl(fd, VIDIOC_S_FMT, &format) != 0 || ioctl(fd, VIDIOC_S_PARM, &rate) != 0) {
        fprintf(stderr, "age: cannot write pictures to %s: %s\n", node, strerror(errno));
        return 1;
    }
    for (int64_t next_ns = clock_now_ns();; next_ns += NS_PER_S / fps) {
        clock_sleep_until_ns(next_ns);
        const uint32_t code = code_of(units(clock_now_ns()));
        for (int x = 0; x < width; x++) {
            picture[2 * x] = code >> (x * BITS / width) & 1 ? WHITE : BLACK;
            picture[2 * x + 1] = NEUTRAL;
        }
        for (int y = 1; y < height; y++)
            memcpy(picture + (size_t)y * row_bytes, picture, row_bytes);
        if (write(fd, picture, size) != (ssize_t)size)
            return 1;
    }
}

struct place {
    int x, y, width, height;
};

// Reads the time of the frame at this place, from a line near its lower edge. Returns false if there is no valid time.
static bool read_time(Display *display, const struct place *at, uint32_t *time)
{
    uint32_t code = 0;
    XImage *line = XGetImage(display, DefaultRootWindow(display), at->x, at->y + at->height * 15 / 16,
                             (unsigned)at->width, 1, AllPlanes, ZPixmap);
    if (!line)
        return false;
    for (int i = 0; i < BITS; i++)
        code |= (uint32_t)((XGetPixel(line, (2 * i + 1) * at->width / (2 * BITS), 0) >> 8 & 0xff) > 128) << i;
    XDestroyImage(line);
    *time = code >> (BITS - TIME_BITS);
    return code == code_of(*time) && code != 0;
}

// Finds the window that shows a time. Ignores X errors about windows that close meanwhile.
static bool find_picture(Display *display, struct place *at)
{
    Window root, parent, *children = NULL;
    unsigned count = 0;
    bool found = false;
    XQueryTree(display, DefaultRootWindow(display), &root, &parent, &children, &count);
    for (unsigned i = 0; i < count && !found; i++) {
        XWindowAttributes window;
        uint32_t time;
        if (!XGetWindowAttributes(display, children[i], &window) || window.map_state != IsViewable ||
            window.width < BITS || window.x < 0 || window.y < 0)
            continue;
        *at = (struct place){window.x, window.y, window.width, window.height};
        found = read_time(display, at, &time);
    }
    if (children)
        XFree(children);
    return found;
}

static int ignore_error(Display *display, XErrorEvent *error)
{
    (void)display;
    (void)error;
    return 0;
}

static int look(int seconds)
{
    Display *display = XOpenDisplay(NULL);
    struct place at;
    if (!display)
        return 1;
    XSetErrorHandler(ignore_error);
    for (const int64_t deadline_ns = clock_now_ns() + (int64_t)FIND_S * NS_PER_S; !find_picture(display, &at);) {
        if (clock_now_ns() > deadline_ns) {
            fprintf(stderr, "age: no window shows the time\n");
            return 1;
        }
        clock_sleep_until_ns(clock_now_ns() + NS_PER_S / 10);
    }
    const int64_t begin_ns = clock_now_ns();
    for (int64_t at_ns = begin_ns; at_ns - begin_ns < (int64_t)seconds * NS_PER_S; at_ns = clock_now_ns()) {
        uint32_t time;
        if (read_time(display, &at, &time)) {
            const uint32_t age = (units(at_ns) - time) & time_mask;
            printf("%.1f %.1f\n", (double)(at_ns - begin_ns) / 1e6, (double)age / UNITS_PER_MS);
        }
        clock_sleep_until_ns(at_ns + LOOK_NS);
    }
    XCloseDisplay(display);
    return 0;
}

int main(int argc, char **argv)
{
    if (argc == 6 && strcmp(argv[1], "feed") == 0)
        return feed(argv[2], atoi(argv[3]), atoi(argv[4]), atoi(argv[5]));
    if (argc == 3 && strcmp(argv[1], "look") == 0)
        return look(atoi(argv[2]));
    return 2;
}
