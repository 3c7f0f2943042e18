// camera_interfaces.c: compares V4L2's other interfaces with the frames of the usual one
#include "camera_interfaces.h"

#include "base/clock.h"
#include "image/convert.h"
#include "source/camera_stream.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <unistd.h>

enum { PATIENCE_MS = 20000 }; // an emulated machine is slow
enum { LAST_NODE = 2 };       // of the nodes that tests/vm/test_drivers.py makes for this test

bool camera_control(const char *node, const char *name, int value)
{
    const int fd = open(node, O_RDWR | O_CLOEXEC);
    struct v4l2_queryctrl control = {.id = V4L2_CTRL_FLAG_NEXT_CTRL};
    bool done = false;
    while (!done && ioctl(fd, VIDIOC_QUERYCTRL, &control) == 0) {
        if (strcmp((const char *)control.name, name) == 0) {
            struct v4l2_control set = {.id = control.id, .value = value};
            done = ioctl(fd, VIDIOC_S_CTRL, &set) == 0;
        }
        control.id |= V4L2_CTRL_FLAG_NEXT_CTRL;
    }
    close(fd);
    return done;
}

static void same_picture(struct check *check, const struct camera_pictures *known, const struct image *frame,
                         const char *on, const char *name)
{
    const struct image *want = &known->rgba[frame->shape.format];
    struct image rgba;
    if (!image_alloc(&rgba, &want->shape))
        return;
    convert_to_rgba(&rgba, frame);
    check_that(check, memcmp(rgba.memory, want->memory, image_bytes(&want->shape)) == 0, "%s: %s has the same bytes",
               on, name);
    image_free(&rgba);
}

// Compares a frame of V4L2's other interfaces: multi-planar, and memory that is contiguous for the device.
static void test_interface(struct check *check, const struct camera_pictures *known, const struct camera_node *at)
{
    char name[CAMERA_NODE + 8];
    snprintf(name, sizeof(name), "camera:%s", at->path);
    camera_control(at->path, "OSD Text Mode", 2);
    for (int i = 0; i < PIXFMT_COUNT; i++) {
        struct frame frame;
        if (!known->rgba[i].memory)
            continue;
        struct source *source = source_open(&(struct source_setup){.text = name,
                                                                   .width = known->shape[i].width,
                                                                   .height = known->shape[i].height,
                                                                   .has_format = true,
                                                                   .format = (enum pixfmt)i});
        if (check_that(check, source && source_next(source, &frame, PATIENCE_MS) == SOURCE_FRAME, "%s: %s", at->path,
                       pixfmt_info((enum pixfmt)i)->name)) {
            same_picture(check, known, &frame.image, at->path, pixfmt_info((enum pixfmt)i)->name);
            source_return(source, &frame);
        }
        source_close(source);
    }
}

// Formats whose planes have separate memory. The source would not choose them, because the camera also offers them in
// one buffer.
static void test_planes(struct check *check, const struct camera_pictures *known, const struct camera_node *at)
{
    for (int i = 0; i < PIXFMT_COUNT; i++) {
        char why[CAMERA_WHY] = "";
        struct camera_mode mode = {.fourcc = pixfmt_info((enum pixfmt)i)->fourcc_apart, .format = (enum pixfmt)i};
        const char *name = (const char *)&mode.fourcc;
        if (mode.fourcc == 0 || !known->rgba[i].memory)
            continue;
        struct camera_stream stream;
        camera_stream_init(&stream);
        struct v4l2_buffer buffer;
        mode.width = known->shape[mode.format].width;
        mode.height = known->shape[mode.format].height;
        int error = EAGAIN;
        bool ok = camera_stream_open(&stream, at->path, why) && camera_stream_set(&stream, &mode, 0, why) &&
                  camera_stream_start(&stream, why);
        const int64_t deadline = clock_now_ns() + (int64_t)PATIENCE_MS * 1000000;
        while (ok && error == EAGAIN && clock_now_ns() < deadline) {
            poll(&(struct pollfd){.fd = stream.device.fd, .events = POLLIN}, 1, 100);
            error = camera_stream_take(&stream, &buffer);
        }
        check_that(check, !ok || stream.kind == V4L2_MEMORY_USERPTR, "%s: it fills the program's memory", at->path);
        ok = ok && error == 0 && stream.memories == pixfmt_info(mode.format)->planes &&
             camera_stream_whole(&stream, (int)buffer.index);
        if (check_that(check, ok, "%s: %.4s: %s", at->path, name, why)) {
            struct image image;
            camera_stream_picture(&stream, (int)buffer.index, &known->shape[mode.format], &image);
            same_picture(check, known, &image, at->path, pixfmt_info(mode.format)->name);
            camera_stream_give(&stream, (int)buffer.index);
        }
        camera_stream_finish(&stream);
    }
}

void camera_interfaces(struct check *check, const char *node, const struct camera_pictures *known)
{
    int count, planar = 0, others = 0;
    struct camera_node *nodes = camera_nodes(&count);
    for (int i = 0; i < count; i++) {
        const struct camera_node *at = &nodes[i];
        if (at->why || strcmp(at->path, node) == 0)
            continue;
        struct camera_device device;
        const bool multi = !camera_device_open(&device, at->path) && device.multi;
        camera_device_close(&device);
        int number = 0;
        if (sscanf(at->path, "/dev/video%d", &number) != 1 || number > LAST_NODE)
            continue;
        test_interface(check, known, at);
        if (multi)
            test_planes(check, known, at);
        else
            planar += multi;
        others++;
    }
    free(nodes);
    printf("%d other cameras, of them %d multi-planar\n", others, planar);
}
