// screen_loop.c: a software camera that shows the X screen with a known delay
//
//   screen_loop WIDTH HEIGHT FPS DELAY_MS OUTPUT [mirror]
//
// It shows WIDTH by HEIGHT pixels (even) of the screen's top left, until it is stopped or its reader closes the pipe.
//
// OUTPUT is a file or pipe, which gets Y4M without colour.
#include "base/clock.h"
#include "base/file.h"

#include <X11/Xlib.h>
#include <X11/Xutil.h>
#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { QUEUE = 256 };

struct picture {
    int64_t due_ns;
    uint8_t *bytes;
};

struct loop {
    int width, height, fd;
    bool mirror;
    size_t head, size; // bytes of a frame with its Y4M header; bytes of that header
    int64_t period_ns, delay_ns;
    Display *display;
    struct picture queue[QUEUE]; // ring, oldest first
    int first, count;
};

static bool open_output(struct loop *loop, const char *path, int fps)
{
    loop->fd = open(path, O_WRONLY | O_CREAT, 0666); // a pipe waits for its reader here
    if (loop->fd < 0)
        return false;
    const size_t pixels = (size_t)loop->width * (size_t)loop->height;
    char line[80];
    snprintf(line, sizeof(line), "YUV4MPEG2 W%d H%d F%d:1 Ip A1:1 Cmono\n", loop->width, loop->height, fps);
    loop->head = strlen("FRAME\n");
    loop->size = loop->head + pixels;
    return file_write_all(loop->fd, line, strlen(line));
}

static void grab(struct loop *loop, int64_t at_ns)
{
    struct picture *picture = &loop->queue[(loop->first + loop->count) % QUEUE];
    XImage *image = XGetImage(loop->display, DefaultRootWindow(loop->display), 0, 0, (unsigned)loop->width,
                              (unsigned)loop->height, AllPlanes, ZPixmap);
    if (!image || loop->count == QUEUE)
        exit(2);
    memcpy(picture->bytes, "FRAME\n", loop->head);
    uint8_t *to = picture->bytes + loop->head;
    for (int y = 0; y < loop->height; y++)
        for (int x = 0; x < loop->width; x++) {
            const uint8_t green = (uint8_t)(XGetPixel(image, loop->mirror ? loop->width - 1 - x : x, y) >> 8);
            *to++ = green;
        }
    XDestroyImage(image);
    picture->due_ns = at_ns + loop->delay_ns;
    loop->count++;
}

int main(int argc, char **argv)
{
    if (argc != 6 && argc != 7)
        return 2;
    const int fps = atoi(argv[3]);
    struct loop loop = {
        .width = atoi(argv[1]),
        .height = atoi(argv[2]),
        .period_ns = NS_PER_S / fps,
        .delay_ns = (int64_t)atoi(argv[4]) * (NS_PER_S / 1000),
        .mirror = argc == 7,
        .display = XOpenDisplay(NULL),
    };
    if (!loop.display || !open_output(&loop, argv[5], fps)) {
        fprintf(stderr, "screen_loop: no display, or %s: %s\n", argv[5], strerror(errno));
        return 1;
    }
    for (int i = 0; i < QUEUE; i++)
        loop.queue[i].bytes = calloc(1, loop.size);
    for (int64_t next_ns = clock_now_ns();;) {
        const struct picture *oldest = &loop.queue[loop.first];
        const bool grabs = loop.count == 0 || next_ns <= oldest->due_ns;
        clock_sleep_until_ns(grabs ? next_ns : oldest->due_ns);
        if (grabs) {
            const int64_t at_ns = clock_now_ns();
            grab(&loop, at_ns);
            next_ns = at_ns - next_ns > loop.period_ns ? at_ns : next_ns + loop.period_ns;
            continue;
        }
        // After a wait for a slow reader, the program skips frames that are too old.
        const bool stale = loop.count > 1 && clock_now_ns() - oldest->due_ns > 2 * loop.period_ns;
        if (!stale && !file_write_all(loop.fd, oldest->bytes, loop.size))
            return 0;
        loop.first = (loop.first + 1) % QUEUE;
        loop.count--;
    }
}
