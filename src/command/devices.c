// devices.c: the command that lists the OpenCL devices and tests which sharing modes they support
#include "compute/device.h"

#include "base/log.h"
#include "command/shared.h"
#include "image/image.h"
#include "path/path.h"
#include "screen/window.h"

#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const examples[] = {
    "monocle devices  list the devices",
    "monocle devices --json  list the devices as JSON",
    "monocle live -d 0  run the live view on the first device",
    NULL,
};
static const char *const details[] = {
    "The option -d of the other commands takes a number from this list, a type (gpu, cpu, accelerator), or a part of a "
    "device's name. The cpu path needs no device.",
    "monocle opens each device and runs a test frame in each sharing mode, the fastest mode first:",
    "gl-shared\tkernels write the texture that the window shows",
    "mapped\tkernels write host memory; OpenCL copies nothing",
    "opencl\tOpenCL copies each frame to the device, and each result back",
    NULL,
};
static const char *const exits[] = {
    "0\tthe list was printed",
    "1\tstandard output cannot be written",
    "2\twrong arguments",
    "3\tthere is no OpenCL device",
    NULL,
};
static const struct option_list list = {
    .command = "devices",
    .usage = "[options]",
    .summary = "list the OpenCL devices and their sharing modes",
    .examples = examples,
    .details = details,
    .exits = exits,
    .options = list_options,
};

// ---- the test of the sharing modes ----

enum { SIDE = 16, MODES = 3, MODE_SHARED = 0, MODE_MAPPED, MODE_OPENCL };

struct sharing_mode {
    const char *name;
    bool works;
    char why[256]; // one line: why it works or fails
};

struct probe {
    bool opens; // the device can be opened; otherwise the reason is logged
    struct sharing_mode mode[MODES];
};

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

// Opens a path on the device and runs a frame. Returns true if the path uses the sharing mode `name` and the frame is
// correct.
static bool try_mode(struct device *device, enum path_kind kind, bool gl, const char *name, char why[256])
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
    else if (strcmp(path_info(path)->sharing, name) == 0)
        works = run_frame(path, &setup.input, why);
    else
        snprintf(why, 256, "%s", path_info(path)->why);
    path_close(path);
    free(error);
    return works;
}

// Tests gl-shared with a window. If the mode failed with another window API before, appends the second reason.
static void probe_shared(const struct device_info *info, const struct window *window, struct sharing_mode *mode)
{
    const struct gl_handles gl = window_gl_handles(window);
    struct device *device = device_open(info, &gl, NULL);
    char why[256] = "";
    if (device && device->shares_gl)
        mode->works = try_mode(device, PATH_ZEROCOPY, true, mode->name, why);
    else
        snprintf(why, sizeof(why), "%s", device ? device->sharing_why : "cannot open the device");
    if (mode->works)
        snprintf(mode->why, sizeof(mode->why), "shares textures with %s", window_gl_name(window));
    else
        snprintf(mode->why + strlen(mode->why), sizeof(mode->why) - strlen(mode->why), "%sover %s: %.100s",
                 mode->why[0] ? "; " : "", gl.glx_context ? "GLX" : "EGL", why);
    device_close(device);
}

static void probe_alone(const struct device_info *info, struct probe *probe)
{
    struct device *device = device_open(info, NULL, NULL);
    probe->opens = device != NULL;
    struct sharing_mode *mapped = &probe->mode[MODE_MAPPED], *opencl = &probe->mode[MODE_OPENCL];
    if (!device) {
        snprintf(mapped->why, sizeof(mapped->why), "cannot open the device");
        snprintf(opencl->why, sizeof(opencl->why), "cannot open the device");
        return;
    }
    if (!info->host_unified)
        snprintf(mapped->why, sizeof(mapped->why), "the device does not share the host's memory");
    else if ((mapped->works = try_mode(device, PATH_ZEROCOPY, false, mapped->name, mapped->why)))
        snprintf(mapped->why, sizeof(mapped->why), "the device shares the host's memory");
    if ((opencl->works = try_mode(device, PATH_OPENCL, false, opencl->name, opencl->why)))
        snprintf(opencl->why, sizeof(opencl->why), "the kernels compile and run");
    device_close(device);
}

// Opens each device and runs a small frame in each sharing mode. For gl-shared, it opens hidden windows.
static void probe_devices(const struct device_info *devices, int count, struct probe *probes)
{
    for (int i = 0; i < count; i++) {
        probes[i] = (struct probe){.mode = {{.name = "gl-shared"}, {.name = "mapped"}, {.name = "opencl"}}};
        probe_alone(&devices[i], &probes[i]);
    }
    for (int egl = 0; egl < 2; egl++) {
        const struct window_setup setup = {.width = SIDE, .height = SIDE, .egl = egl == 1, .hidden = true};
        char why[256] = "";
        struct window *window = window_open(&setup, why);
        for (int i = 0; i < count; i++) {
            struct sharing_mode *mode = &probes[i].mode[MODE_SHARED];
            if (window && !mode->works && probes[i].opens)
                probe_shared(&devices[i], window, mode);
            else if (!window && egl == 0)
                snprintf(mode->why, sizeof(mode->why), "not tested: cannot open a window: %s", why);
        }
        window_close(window);
    }
}

// ---- output ----

static void print_bytes(size_t bytes)
{
    static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
    double value = (double)bytes;
    int unit = 0;
    while (value >= 1024 && unit < 4) {
        value /= 1024;
        unit++;
    }
    printf(value < 10 && unit > 0 ? "%.1f %s" : "%.0f %s", value, units[unit]);
}

static void print_device(int number, const struct device_info *info, const struct probe *probe)
{
    printf("%d  %s\n", number, info->name);
    printf("   type       %s\n", device_type_name(info));
    printf("   platform   %s, %s\n", info->platform_name, info->version);
    printf("   driver     %s\n", info->driver);
    printf("   compute    %d units, work-groups up to %zu\n", info->compute_units, info->max_work_group);
    printf("   memory     ");
    print_bytes(info->memory_bytes);
    printf("%s, local ", info->host_unified ? " shared with the host" : "");
    print_bytes(info->local_bytes);
    printf("\n   images     %s\n", info->images ? "yes" : "no");
    printf("   GL events  %s\n", info->gl_event ? "yes" : "no");
    for (int i = 0; i < MODES; i++)
        printf("   %-9s  %s: %s\n", probe->mode[i].name, probe->mode[i].works ? "yes" : "no", probe->mode[i].why);
}

static json_t *device_json(int number, const struct device_info *info, const struct probe *probe)
{
    json_t *modes = json_array();
    for (int i = 0; i < MODES; i++)
        json_array_append_new(modes, json_pack("{s:s,s:b,s:o}", "rung", probe->mode[i].name, "works",
                                               (int)probe->mode[i].works, "why", text_json(probe->mode[i].why)));
    json_t *row =
        json_pack("{s:i,s:o,s:s,s:o,s:o,s:o,s:o}", "number", number, "name", text_json(info->name), "type",
                  device_type_name(info), "vendor", text_json(info->vendor), "platform", text_json(info->platform_name),
                  "version", text_json(info->version), "driver", text_json(info->driver));
    json_object_update_new(row, json_pack("{s:i,s:I,s:I,s:I,s:b,s:b,s:b,s:b,s:o}", "compute_units", info->compute_units,
                                          "max_work_group", (json_int_t)info->max_work_group, "memory_bytes",
                                          (json_int_t)info->memory_bytes, "local_bytes", (json_int_t)info->local_bytes,
                                          "images", (int)info->images, "host_unified", (int)info->host_unified,
                                          "gl_event", (int)info->gl_event, "opens", (int)probe->opens, "rungs", modes));
    return row;
}

static int devices_run(int argc, char **argv)
{
    struct list_options o = {0};
    struct command_operands operands;
    int code;
    if (!command_parse(&list, argc, argv, &o, 0, &operands, &code))
        return code;
    struct device_info devices[DEVICE_MAX];
    struct probe probes[DEVICE_MAX];
    const char *why = "";
    const int count = device_list(devices, &why);
    probe_devices(devices, count, probes);
    json_t *array = o.json ? json_array() : NULL;
    for (int i = 0; i < count; i++) {
        if (o.json)
            json_array_append_new(array, device_json(i, &devices[i], &probes[i]));
        else
            print_device(i, &devices[i], &probes[i]);
    }
    if (o.json)
        print_json(array, JSON_INDENT(2));
    if (count > 0)
        return EXIT_OK;
    log_error("there is no OpenCL device: %s; the cpu path (-p cpu) works without one", why);
    return EXIT_NOTHING;
}

const struct command devices_command = {.list = &list, .run = devices_run};
