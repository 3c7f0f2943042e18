// test_sharing.c: zerocopy with GL sharing, whose kernels write GL textures, gives the bytes of the cpu path
#include "check.h"
#include "compute/device.h"
#include "path/path.h"
#include "screen/window.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { FRAMES = 6, DEPTH = 2 };

static struct gl_context *context; // the window's
static struct check test = {.name = "sharing"};

static void fill(struct image *image, unsigned seed)
{
    const size_t bytes = image_bytes(&image->shape);
    for (size_t i = 0; i < bytes; i++) {
        seed = seed * 1664525u + 1013904223u;
        image->plane[0][i] = (uint8_t)(seed >> 24);
    }
}

static bool run(struct path *path, const struct image *frame, uint64_t tag, struct image *rgba)
{
    struct path_result result;
    return path_submit(path, frame, &(struct frame_time){.number = tag}) && path_collect(path, &result) &&
           result.number == tag && path_read(path, &result, rgba);
}

// One frame through both paths.
static void compare(struct device *device, const struct image_shape *shape, const char *text)
{
    struct chain chain;
    char error[CHAIN_ERROR];
    if (!check_that(&test, chain_parse(&chain, text, error), "%s: %s", text, error))
        return;
    struct path_setup setup = {.kind = PATH_CPU, .input = *shape, .chain = &chain, .gl = context, .textures = true};
    struct image_shape rgba = {.format = PIXFMT_RGBA, .width = shape->width, .height = shape->height};
    check_that(&test, chain_output_size(&chain, &rgba.width, &rgba.height, error), "%s: %s", text, error);
    struct image frame, want, got;
    const bool room = image_alloc(&frame, shape) && image_alloc(&want, &rgba) && image_alloc(&got, &rgba);
    fill(&frame, (unsigned)shape->width * 31u + (unsigned)shape->format);
    memset(got.plane[0], 0xa5, image_bytes(&rgba));
    struct path *cpu = path_open(&setup, NULL);
    setup.kind = PATH_ZEROCOPY;
    setup.device = device;
    struct path *shared = path_open(&setup, NULL);
    const char *format = pixfmt_info(shape->format)->name;
    if (check_that(&test, room && cpu && shared, "%s %s: a path does not open", format, text)) {
        check_that(&test, strcmp(path_info(shared)->sharing, "gl-shared") == 0, "sharing mode %s: %s",
                   path_info(shared)->sharing, path_info(shared)->why);
        check_that(&test, run(cpu, &frame, 1, &want) && run(shared, &frame, 2, &got), "%s %s: no frame", format, text);
        check_that(&test, memcmp(want.plane[0], got.plane[0], image_bytes(&rgba)) == 0, "%s %dx%d '%s': bytes differ",
                   format, shape->width, shape->height, text);
    }
    path_close(shared);
    path_close(cpu);
    image_free(&got);
    image_free(&want);
    image_free(&frame);
}

// Frames in flight and textures in turn: each result is its own frame's.
static void compare_many(struct device *device)
{
    struct chain chain;
    char error[CHAIN_ERROR];
    chain_parse(&chain, "blur,gray,emboss", error);
    const struct image_shape shape = {PIXFMT_NV21, 640, 360, {COLOR_MATRIX_601, COLOR_RANGE_LIMITED}, false};
    const struct image_shape rgba = {.format = PIXFMT_RGBA, .width = 640, .height = 360};
    struct path_setup setup = {
        .kind = PATH_CPU, .input = shape, .chain = &chain, .depth = DEPTH, .gl = context, .textures = true};
    struct path *cpu = path_open(&setup, NULL);
    setup.kind = PATH_ZEROCOPY;
    setup.device = device;
    struct path *shared = path_open(&setup, NULL);
    struct image frame[FRAMES], want, got;
    bool ok = cpu && shared && image_alloc(&want, &rgba) && image_alloc(&got, &rgba);
    for (unsigned i = 0; ok && i < FRAMES; i++) {
        ok = image_alloc(&frame[i], &shape);
        fill(&frame[i], i);
    }
    for (int i = 0; ok && i < FRAMES + 1; i++) {
        if (i < FRAMES)
            ok = path_submit(shared, &frame[i], &(struct frame_time){.number = (uint64_t)i});
        struct path_result result;
        if (i == 0)
            continue;
        ok = ok && path_collect(shared, &result) && path_read(shared, &result, &got) &&
             run(cpu, &frame[i - 1], 0, &want);
        check_that(&test, ok && result.number == (uint64_t)(i - 1), "frame %d was returned as another", i - 1);
        check_that(&test, ok && memcmp(want.plane[0], got.plane[0], image_bytes(&rgba)) == 0, "frame %d differs",
                   i - 1);
    }
    check_that(&test, ok, "frames in flight fail");
    path_close(shared);
    path_close(cpu);
}

static void compare_all(struct device *device)
{
    static const int sizes[][2] = {{1, 1}, {2, 3}, {34, 17}, {130, 67}, {1280, 721}};
    for (int f = 0; f < PIXFMT_COUNT; f++) {
        for (size_t s = 0; s < sizeof(sizes) / sizeof(*sizes); s++) {
            struct image_shape shape = {.format = (enum pixfmt)f, .width = sizes[s][0], .height = sizes[s][1]};
            const char *why;
            if (!pixfmt_size_ok(shape.format, shape.width, shape.height, &why))
                continue;
            shape.color =
                color_resolve(shape.color, (struct color){0}, shape.format == PIXFMT_GREY, shape.width, shape.height);
            compare(device, &shape, "none");
            compare(device, &shape, "mirror,blur=2,gray,flip,emboss=e,gamma=1.4");
        }
    }
    const struct image_shape rgba = {.format = PIXFMT_RGBA, .width = 641, .height = 97};
    for (int i = 0; filters[i]; i++) {
        compare(device, &rgba, filters[i]->name);
        compare(device, &rgba, filters[i]->example);
    }
    compare(device, &rgba, "blur=15");
    compare(device, &rgba, "convolve=gaussian:div=100:bias=-20.5,median,sobel");
    compare_many(device);
}

static int skip(const char *why)
{
    printf("skipped: %s\n", why);
    return CHECK_SKIP;
}

int main(void)
{
    char why[256];
    const char *none;
    struct device_info devices[DEVICE_MAX];
    const int count = device_list(devices, &none);
    if (count == 0)
        return skip(none);
    struct window *window =
        window_open(&(struct window_setup){.title = "sharing", .width = 64, .height = 64, .hidden = true}, why);
    if (!window)
        return skip(why);
    context = window_gl(window);
    const struct gl_handles gl = window_gl_handles(window);
    bool any = false;
    for (int i = 0; i < count; i++) {
        struct device *device = device_open(&devices[i], &gl, NULL);
        printf("%s with %s: %s\n", devices[i].name, window_gl_name(window),
               device ? device->sharing_why : "not opened");
        if (device && device->shares_gl) {
            any = true;
            compare_all(device);
        }
        device_close(device);
    }
    window_close(window);
    return any ? check_end(&test) : skip("no OpenCL device shares textures with GL here");
}
