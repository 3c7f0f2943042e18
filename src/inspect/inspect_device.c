// inspect_device.c: the list of the OpenCL devices, and the sharing modes of one; in a child (inspect.h)
#include "compute/cl.h"
#include "inspect/inspect.h"

#include "base/alloc.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/text.h"
#include "compute/device.h"
#include "image/image.h"
#include "path/path.h"
#include "screen/window.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

// ---- the list ----

static json_t *info_json(int number, const struct device_info *info)
{
    cl_uint vendor = 0;
    if (clGetDeviceInfo(info->id, CL_DEVICE_VENDOR_ID, sizeof(vendor), &vendor, NULL) != CL_SUCCESS)
        vendor = 0;
    json_t *row =
        json_pack("{s:i,s:o,s:s,s:o,s:o,s:o,s:o}", "number", number, "name", text_json(info->name), "type",
                  device_type_name(info), "vendor", text_json(info->vendor), "platform", text_json(info->platform_name),
                  "version", text_json(info->version), "driver", text_json(info->driver));
    json_object_set_new(row, "vendor_id", json_sprintf("0x%04x", vendor));
    json_object_update_new(row, json_pack("{s:i,s:I,s:I,s:I,s:b,s:b,s:b}", "compute_units", info->compute_units,
                                          "max_work_group", (json_int_t)info->max_work_group, "memory_bytes",
                                          (json_int_t)info->memory_bytes, "local_bytes", (json_int_t)info->local_bytes,
                                          "images", (int)info->images, "host_unified", (int)info->host_unified,
                                          "gl_event", (int)info->gl_event));
    return row;
}

json_t *inspect_device_list(void)
{
    struct device_info devices[DEVICE_MAX];
    const char *why = "";
    const int count = device_list(devices, &why);
    json_t *array = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(array, info_json(i, &devices[i]));
    return json_pack("{s:o,s:s}", "devices", array, "why", why);
}

// ---- the sharing modes ----

enum { SIDE = 16, WHY = 256 };

struct sharing_mode {
    const char *name;
    bool works;
    char why[256]; // one line: why it works or fails
};

// Runs one frame through an empty chain. Returns true if the pixels come back unchanged; otherwise `why` has the
// reason.
static bool run_frame(struct path *path, const struct image_shape *shape, char why[256])
{
    struct image frame = {0}, back = {0};
    struct path_result result;
    bool same = false;
    if (image_alloc(&frame, shape) && image_alloc(&back, shape)) {
        const size_t bytes = image_bytes(shape);
        for (size_t i = 0; i < bytes; i++)
            frame.plane[0][i] = (uint8_t)(i * 37 + i / 64);
        same = path_submit(path, &frame, NULL) && path_collect(path, &result) && path_read(path, &result, &back) &&
               memcmp(frame.plane[0], back.plane[0], bytes) == 0;
    }
    if (!same)
        snprintf(why, 256, "%s",
                 path_info(path)->lost ? "the device was lost during a test frame" : "the test frame has wrong pixels");
    image_free(&frame);
    image_free(&back);
    return same;
}

// Opens a path on the device and runs a frame. Returns true if the path uses the sharing mode `name` and the frame is
// correct.
static bool try_mode(struct device *device, enum path_kind kind, struct gl_context *gl, const char *name, char why[256])
{
    const struct chain chain = {.count = 0};
    const struct path_setup setup = {
        .kind = kind,
        .device = device,
        .input = {.format = PIXFMT_RGBA, .width = SIDE, .height = SIDE},
        .chain = &chain,
        .gl = gl,
        .textures = gl != NULL,
    };
    char *error = NULL;
    struct path *path = path_open(&setup, &error);
    bool works = false;
    if (!path)
        snprintf(why, 256, "%.*s", (int)strcspn(text_or(error, "?"), "\n"), text_or(error, "?"));
    else if (strcmp(path_info(path)->sharing, name) == 0)
        works = run_frame(path, &setup.input, why);
    else
        snprintf(why, 256, "%s", path_info(path)->why);
    path_close(path);
    free(error);
    return works;
}

// Tests gl-shared with a window. If the mode failed with another window API before, appends the second reason.
static void probe_shared(const struct device_info *info, struct window *window, struct sharing_mode *mode)
{
    const struct gl_handles gl = window_gl_handles(window);
    struct device *device = device_open(info, &gl, NULL);
    char why[256] = "";
    if (device && device->shares_gl)
        mode->works = try_mode(device, PATH_ZEROCOPY, window_gl(window), mode->name, why);
    else
        snprintf(why, sizeof(why), "%s", device ? device->sharing_why : "cannot open the device");
    if (mode->works)
        snprintf(mode->why, sizeof(mode->why), "shares textures with %s", window_gl_name(window));
    else
        snprintf(mode->why + strlen(mode->why), sizeof(mode->why) - strlen(mode->why), "%sover %s: %.100s",
                 text_if(mode->why[0], "; "), gl.glx_context ? "GLX" : "EGL", why);
    device_close(device);
}

// The last error that a function logged, which nobody sees in a child.
struct last_error {
    char text[WHY];
};

static void keep_error(void *context, const char *message)
{
    snprintf(((struct last_error *)context)->text, WHY, "%s", message);
}

// Writes the modes tested so far. The parent knows the others as not tested.
static void write_mode(const struct sharing_mode *mode)
{
    inspect_write(json_pack("{s:{s:b,s:o}}", mode->name, "works", (int)mode->works, "why", text_json(mode->why)));
}

static void inspect_alone(struct device *device, const char *error)
{
    struct sharing_mode mapped = {.name = "mapped"}, opencl = {.name = "opencl"};
    if (!device) {
        snprintf(mapped.why, WHY, "%s", error[0] ? error : "cannot open the device");
        snprintf(opencl.why, WHY, "%s", mapped.why);
    } else if (!device->info.host_unified)
        snprintf(mapped.why, WHY, "the device does not share the host's memory");
    else if ((mapped.works = try_mode(device, PATH_ZEROCOPY, NULL, mapped.name, mapped.why)))
        snprintf(mapped.why, WHY, "the device shares the host's memory");
    write_mode(&mapped);
    if (device && (opencl.works = try_mode(device, PATH_OPENCL, NULL, opencl.name, opencl.why)))
        snprintf(opencl.why, WHY, "the kernels compile and run");
    write_mode(&opencl);
}

// Tests gl-shared with a hidden window, over GLX and then over EGL.
static void inspect_shared(const struct device_info *info)
{
    struct sharing_mode shared = {.name = "gl-shared"};
    for (int egl = 0; egl < 2 && !shared.works; egl++) {
        const struct window_setup setup = {.width = SIDE, .height = SIDE, .egl = egl == 1, .hidden = true};
        char why[256] = "";
        struct window *window = window_open(&setup, why);
        if (window)
            probe_shared(info, window, &shared);
        else if (egl == 0)
            snprintf(shared.why, WHY, "not tested: cannot open a window: %.200s", why);
        window_close(window);
    }
    write_mode(&shared);
}

void inspect_device(int number)
{
    struct device_info devices[DEVICE_MAX];
    struct last_error error = {.text = ""};
    const char *why;
    const int count = device_list(devices, &why);
    if (number < 0 || number >= count)
        return;
    log_set_error_hook(keep_error, &error);
    struct device *device = device_open(&devices[number], NULL, NULL);
    inspect_write(json_pack("{s:b}", "opens", device != NULL));
    inspect_alone(device, error.text);
    device_close(device);
    if (device)
        inspect_shared(&devices[number]);
    log_set_error_hook(NULL, NULL);
}
