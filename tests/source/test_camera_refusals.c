// test_camera_refusals.c: a real driver refuses calls or gives less than requested: bandwidth, buffers, sizes
#include "check.h"
#include "scratch.h"

#include "base/clock.h"
#include "source/cameras.h"
#include "source/source.h"

#include <errno.h>
#include <fcntl.h>
#include <libv4l2.h>
#include <linux/videodev2.h>
#include <stdarg.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { WIDTH = 320, HEIGHT = 180, PATIENCE_MS = 20000 };

static struct check check = {.name = "camera refusals"};
static struct scratch scratch;

// The fault of the driver. Other requests reach it unchanged.
static struct {
    unsigned long refused; // request
    int error;
    unsigned control; // of VIDIOC_S_CTRL, only this one; 0: all
    unsigned passes;  // number of requests before the first refusal
    unsigned buffers; // at most this number; 0: as the driver has it
} fault;

// Replaces libv4l2's function.
int v4l2_ioctl(int fd, unsigned long request, ...)
{
    va_list arguments;
    va_start(arguments, request);
    void *argument = va_arg(arguments, void *);
    va_end(arguments);
    const bool other = fault.control && ((struct v4l2_control *)argument)->id != fault.control;
    if (request == fault.refused && !other && fault.passes-- == 0) {
        fault.passes = 0;
        errno = fault.error;
        return -1;
    }
    if (request == VIDIOC_REQBUFS && fault.buffers > 0) {
        struct v4l2_requestbuffers *wanted = argument;
        wanted->count = wanted->count > fault.buffers ? fault.buffers : wanted->count;
    }
    return (int)syscall(SYS_ioctl, fd, request, argument);
}

static struct source *open_camera(void)
{
    return source_open(&(struct source_setup){
        .text = "camera", .width = WIDTH, .height = HEIGHT, .has_format = true, .format = PIXFMT_YUYV});
}

static bool comes(struct source *source, int frames)
{
    struct frame frame;
    for (int i = 0; i < frames; i++) {
        if (source_next(source, &frame, PATIENCE_MS) != SOURCE_FRAME)
            return false;
        source_return(source, &frame);
    }
    return true;
}

// At the start each fault is reported in one line, with advice.
static void test_start(void)
{
    static const struct {
        unsigned long request;
        int error;
        const char *says;
    } cases[] = {
        {VIDIOC_STREAMON, ENOSPC, "bandwidth"}, {VIDIOC_STREAMON, EIO, "plug it in again"},
        {VIDIOC_REQBUFS, ENOMEM, "memory"},     {VIDIOC_S_FMT, EBUSY, "another program"},
        {VIDIOC_QBUF, ENOMEM, "memory"},        {VIDIOC_QUERYCAP, ENODEV, "there is no camera"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        fault.refused = cases[i].request;
        fault.error = cases[i].error;
        capture_stderr(&scratch.said);
        struct source *source = open_camera();
        const int lines = captured_lines(&scratch.said);
        fault.refused = 0;
        check_that(&check, !source && lines == 1 && strstr(scratch.said.text, cases[i].says), "case %zu: %s", i,
                   scratch.said.text);
        source_close(source);
    }
}

// During the run, the source tries again until the driver accepts, and reports the reason meanwhile.
static void test_later(void)
{
    struct source *source = open_camera();
    struct frame frame;
    if (!check_that(&check, source && comes(source, 3), "it opens"))
        return;
    capture_stderr(&scratch.said);
    fault.refused = VIDIOC_DQBUF;
    fault.error = ENODEV;
    source_next(source, &frame, 100);
    fault.refused = VIDIOC_STREAMON;
    fault.error = ENOSPC;
    const int64_t deadline = clock_now_ns() + (int64_t)PATIENCE_MS * 1000000;
    while (!strstr(source_health(source).trouble, "bandwidth") && clock_now_ns() < deadline)
        source_next(source, &frame, 100);
    check_that(&check, strstr(source_health(source).trouble, "bandwidth") != NULL, "it is logged: %s",
               source_health(source).trouble);
    fault.refused = 0;
    const bool back = comes(source, 3);
    captured_stderr(&scratch.said);
    check_that(&check, back && source_health(source).outages == 1, "frames arrive again: %s", scratch.said.text);
    source_close(source);
}

// With fewer buffers than requested (some drivers have a minimum), frames arrive while one frame is lent.
static void test_buffers(void)
{
    for (unsigned buffers = 1; buffers <= 4; buffers++) {
        fault.buffers = buffers;
        capture_stderr(&scratch.said);
        struct source *source = open_camera();
        captured_stderr(&scratch.said);
        struct frame held;
        const bool ok = source && source_next(source, &held, PATIENCE_MS) == SOURCE_FRAME;
        check_that(&check, ok && comes(source, 5) && source_health(source).outages == 0, "%u buffers: %s", buffers,
                   scratch.said.text);
        if (ok)
            source_return(source, &held);
        source_close(source);
    }
    fault.buffers = 0;
}

static int value_of(const char *node, unsigned id)
{
    struct v4l2_control control = {.id = id};
    const int fd = open(node, O_RDWR);
    check_that(&check, fd >= 0 && ioctl(fd, VIDIOC_G_CTRL, &control) == 0, "control %#x can be read", id);
    close(fd);
    return control.value;
}

// All of the user's settings are set, or none.
static void test_controls(const char *node)
{
    static const struct source_setting good[] = {{"brightness=201", "kept", 1}, {"contrast=7", "kept", 2}};
    static const struct {
        struct source_setting last;
        unsigned refused, passes; // control; how often it can be set
        int brightness;           // afterwards, 100 before
        const char *says;
    } cases[] = {
        {{"nothing=1", "kept", 4}, 0, 0, 100, "kept:4: camera "},
        {{"saturation=900", "kept", 5}, 0, 0, 100, "kept:5: cannot set control saturation of camera "},
        {{"saturation=900", NULL, 0}, 0, 0, 100, "error: cannot set control saturation of camera "},
        {{"saturation=3", "kept", 6}, V4L2_CID_SATURATION, 0, 100, "kept:6: cannot set control saturation of camera "},
        {{"brightness=202", "kept", 7},
         V4L2_CID_BRIGHTNESS,
         1,
         201,
         "; the controls set before it keep their new values"},
    };
    for (size_t i = 0; i < sizeof(cases) / sizeof(*cases); i++) {
        const struct source_setting before[] = {{.text = "brightness=100"}, {.text = "contrast=50"}};
        source_close(source_open(&(struct source_setup){.text = "camera", .controls = before, .control_count = 2}));
        const struct source_setting settings[] = {good[0], good[1], cases[i].last};
        fault.refused = cases[i].refused ? VIDIOC_S_CTRL : 0;
        fault.control = cases[i].refused;
        fault.passes = cases[i].passes;
        fault.error = EIO;
        capture_stderr(&scratch.said);
        struct source *source =
            source_open(&(struct source_setup){.text = "camera", .controls = settings, .control_count = 3});
        const int lines = captured_lines(&scratch.said);
        fault.refused = fault.control = fault.passes = 0;
        check_that(&check, !source && lines == 1 && strstr(scratch.said.text, cases[i].says), "controls %zu: %s", i,
                   scratch.said.text);
        check_that(&check, (strstr(scratch.said.text, "keep their new") != NULL) == (cases[i].brightness != 100),
                   "controls %zu: %s", i, scratch.said.text);
        check_that(&check, value_of(node, V4L2_CID_BRIGHTNESS) == cases[i].brightness, "controls %zu: brightness %d", i,
                   value_of(node, V4L2_CID_BRIGHTNESS));
        check_that(&check, value_of(node, V4L2_CID_CONTRAST) == 50, "controls %zu: contrast %d", i,
                   value_of(node, V4L2_CID_CONTRAST));
        source_close(source);
    }
    struct source *source = source_open(&(struct source_setup){.text = "camera", .controls = good, .control_count = 2});
    check_that(&check, source && value_of(node, V4L2_CID_BRIGHTNESS) == 201 && value_of(node, V4L2_CID_CONTRAST) == 7,
               "good settings are set");
    source_close(source);
}

int main(void)
{
    struct camera_node node;
    char why[CAMERA_WHY];
    if (!camera_find(NULL, &node, why) || !scratch_open(&scratch)) {
        fprintf(stderr, "there is no camera to test\n");
        return CHECK_SKIP;
    }
    test_controls(node.path);
    test_start();
    test_later();
    test_buffers();
    return check_end(&check);
}
