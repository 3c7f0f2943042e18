// devices_probe.c: runs a small frame in every sharing mode of every device
#include "command/devices.h"

#include "image/image.h"
#include "path/path.h"
#include "screen/window.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { SIDE = 16, RUNG_SHARED = 0, RUNG_MAPPED, RUNG_OPENCL };

static const char *const rung_names[PROBE_RUNGS] = {"gl-shared", "mapped", "opencl"};

// Runs one frame through an empty chain. Returns true if the pixels come back unchanged; otherwise `why` has the
// reason.
static bool run_frame(struct path *path, const struct image_shape *shape, char why[256])
{
    struct image frame = {0}, back = {0};
    struct path_result result;
    bool lost = false, same = false;
    if (image_alloc(&frame, shape) && image_alloc(&back, shape)) {
        const size_t bytes = image_bytes(shape);
        for (size_t i = 0; i < bytes; i++)
            frame.plane[0][i] = (uint8_t)(i * 37 + i / 64);
        same = path_submit(path, &frame, 0, &lost) && path_collect(path, &result, &lost) &&
               path_read(path, &result, &back) && memcmp(frame.plane[0], back.plane[0], bytes) == 0;
    }
    if (!same)
        snprintf(why, 256, "%s", lost ? "the device was lost during a test frame" : "the test frame has wrong pixels");
    image_free(&frame);
    image_free(&back);
    return same;
}

// Opens a path on the device and runs a frame. Returns true if the path uses the sharing mode `rung` and the frame is
// correct.
static bool try_rung(struct device *device, enum path_kind kind, bool gl, const char *rung, char why[256])
{
    const struct chain chain = {.count = 0};
    const struct path_setup setup = {
        .kind = kind,
        .device = device,
        .input = {.format = PIXFMT_RGBA, .width = SIDE, .height = SIDE},
        .chain = &chain,
        .gl = gl,
    };
    char *error = NULL;
    struct path *path = path_open(&setup, &error);
    bool works = false;
    if (!path)
        snprintf(why, 256, "%.*s", (int)strcspn(error ? error : "?", "\n"), error ? error : "?");
    else if (strcmp(path_rung(path), rung) == 0)
        works = run_frame(path, &setup.input, why);
    else
        snprintf(why, 256, "%s", path_why(path));
    path_close(path);
    free(error);
    return works;
}

static struct device_gl gl_handles(const struct window *window)
{
    const struct window_native native = window_native(window);
    return (struct device_gl){native.glx_context, native.glx_display, native.egl_context, native.egl_display};
}

// Tests gl-shared with a window. If the mode failed with another window API before, appends the second reason.
static void probe_shared(const struct device_info *info, const struct window *window, struct probe_rung *rung)
{
    const struct device_gl gl = gl_handles(window);
    struct device *device = device_open(info, &gl, NULL);
    char why[256] = "";
    if (device && device->shares_gl)
        rung->works = try_rung(device, PATH_ZEROCOPY, true, rung->name, why);
    else
        snprintf(why, sizeof(why), "%s", device ? device->sharing_why : "cannot open the device");
    if (rung->works)
        snprintf(rung->why, sizeof(rung->why), "shares textures with %s", window_gl_name(window));
    else
        snprintf(rung->why + strlen(rung->why), sizeof(rung->why) - strlen(rung->why), "%sover %s: %.100s",
                 rung->why[0] ? "; " : "", gl.glx_context ? "GLX" : "EGL", why);
    device_close(device);
}

static void probe_alone(const struct device_info *info, struct probe *probe)
{
    struct device *device = device_open(info, NULL, NULL);
    probe->opens = device != NULL;
    struct probe_rung *mapped = &probe->rung[RUNG_MAPPED], *opencl = &probe->rung[RUNG_OPENCL];
    if (!device) {
        snprintf(mapped->why, sizeof(mapped->why), "cannot open the device");
        snprintf(opencl->why, sizeof(opencl->why), "cannot open the device");
        return;
    }
    if (!info->host_unified)
        snprintf(mapped->why, sizeof(mapped->why), "the device does not share the host's memory");
    else if ((mapped->works = try_rung(device, PATH_ZEROCOPY, false, mapped->name, mapped->why)))
        snprintf(mapped->why, sizeof(mapped->why), "the device shares the host's memory");
    if ((opencl->works = try_rung(device, PATH_OPENCL, false, opencl->name, opencl->why)))
        snprintf(opencl->why, sizeof(opencl->why), "the kernels compile and run");
    device_close(device);
}

void probe_devices(const struct device_info *devices, int count, struct probe *probes)
{
    for (int i = 0; i < count; i++) {
        probes[i] = (struct probe){0};
        for (int r = 0; r < PROBE_RUNGS; r++)
            probes[i].rung[r].name = rung_names[r];
        probe_alone(&devices[i], &probes[i]);
    }
    for (int egl = 0; egl < 2; egl++) {
        const struct window_setup setup = {.width = SIDE, .height = SIDE, .egl = egl == 1, .hidden = true};
        char why[256] = "";
        struct window *window = window_open(&setup, why);
        for (int i = 0; i < count; i++) {
            struct probe_rung *rung = &probes[i].rung[RUNG_SHARED];
            if (window && !rung->works && probes[i].opens)
                probe_shared(&devices[i], window, rung);
            else if (!window && egl == 0)
                snprintf(rung->why, sizeof(rung->why), "not tested: cannot open a window: %s", why);
        }
        window_close(window);
    }
}
