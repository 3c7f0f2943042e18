// inspect.c: queries of drivers: the parent, the child, and GL contexts
#include "inspect/inspect.h"

#include "base/child.h"
#include "base/json_text.h"
#include "base/log.h"
#include "base/text.h"
#include "compute/cl.h"
#include "compute/device.h"
#include "compute/drivers.h"
#include "compute/gl_context.h"
#include "image/image.h"
#include "path/path.h"
#include "screen/window.h"
#include "source/cameras.h"

#include <dlfcn.h>
#include <jansson.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// ---- a test frame, in the child ----

enum { SIDE = 16, WHY = 256 };

// Filters a frame. `sharing`: the mode that the path must use; NULL: any. Returns false on failure, with the reason.
static bool filter(const struct path_setup *setup, const char *sharing, const struct image *frame, struct image *rgba,
                   char why[WHY])
{
    char *error = NULL;
    struct path_result result;
    struct path *path = path_open(setup, &error);
    bool ok = false;
    if (!path)
        snprintf(why, WHY, "%.*s", (int)strcspn(text_or(error, "?"), "\n"), text_or(error, "?"));
    else if (sharing && strcmp(path_info(path)->sharing, sharing) != 0)
        snprintf(why, WHY, "%s", path_info(path)->why);
    else if (!(ok = path_submit(path, frame, NULL) && path_collect(path, &result) && path_read(path, &result, rgba)))
        snprintf(why, WHY, "%s",
                 path_info(path)->lost ? "the device was lost during a test frame" : "it cannot filter a frame");
    path_close(path);
    free(error);
    return ok;
}

// Compares a path with the cpu path. Returns false if the path does not work in this mode, with the reason.
static bool try_path(const struct path_setup *setup, const char *sharing, char why[WHY])
{
    struct image frame = {0}, want = {0}, got = {0};
    const struct path_setup cpu = {.kind = PATH_CPU, .input = setup->input, .chain = setup->chain};
    bool ok = image_alloc(&frame, &cpu.input) && image_alloc(&want, &cpu.input) && image_alloc(&got, &cpu.input);
    snprintf(why, WHY, "the test frames cannot be allocated");
    for (size_t i = 0; ok && i < image_bytes(&cpu.input); i++)
        frame.plane[0][i] = (uint8_t)(i * 37 + i / 64);
    ok = ok && filter(&cpu, NULL, &frame, &want, why) && filter(setup, sharing, &frame, &got, why);
    if (ok && memcmp(want.plane[0], got.plane[0], image_bytes(&cpu.input)) != 0) {
        snprintf(why, WHY, "it computes wrong pixels");
        ok = false;
    }
    image_free(&frame);
    image_free(&want);
    image_free(&got);
    return ok;
}

// ---- GL contexts, in the child ----

static json_t *context_json(const struct gl_context *context, const char *why, bool right, const char *fault)
{
    return json_pack("{s:b,s:b,s:o,s:b,s:o}", "works", (int)(context != NULL), "software",
                     (int)(context && context->software), "text", text_json(context ? context->name : why), "filters",
                     (int)right, "why", text_json(fault));
}

// Writes the context, which is current, or why there is none (context NULL). If the gl path crashes, the first line
// stays valid.
static void write_context(const char *name, struct gl_context *context, const char *why)
{
    char fault[256] = "";
    send_json(json_pack("{s:o}", name, context_json(context, why, false, "not tested")));
    if (context) {
        struct chain chain;
        char error[CHAIN_ERROR];
        const struct path_setup setup = {.kind = PATH_GL,
                                         .input = {.format = PIXFMT_RGBA, .width = 64, .height = 32},
                                         .chain = &chain,
                                         .gl = context};
        chain_parse(&chain, "blur=2,gray,emboss", error);
        const bool right = try_path(&setup, NULL, fault);
        send_json(json_pack("{s:o}", name, context_json(context, why, right, right ? "" : fault)));
    }
}

// Writes the GL contexts, by name: without a window ("headless"), and of windows ("GLX", "EGL", "ES").
static void inspect_gl(void)
{
    static const struct {
        const char *name;
        struct window_setup setup;
    } kinds[] = {
        {"GLX", {.width = 16, .height = 16, .hidden = true}},
        {"EGL", {.width = 16, .height = 16, .hidden = true, .egl = true}},
        {"ES", {.width = 16, .height = 16, .hidden = true, .es = true}},
    };
    char why[256] = "";
    struct gl_context *context = gl_context_open_current(why);
    write_context("headless", context, why);
    gl_context_close_current(context);
    for (size_t i = 0; i < sizeof(kinds) / sizeof(*kinds); i++) {
        why[0] = '\0';
        struct window *window = window_open(&kinds[i].setup, why);
        write_context(kinds[i].name, window_gl(window), why);
        window_close(window);
    }
}

// In seconds. A device compiles kernels, which takes minutes on a slow board or in an emulator.
enum { LIMIT_S = 60, DEVICE_LIMIT_S = 180 };
// The exit status of a complete answer. 0 or 1: the driver ended the process.
enum { DONE = 100 };
#define DATA_LEAST ((size_t)16 << 30)

// ---- the list of the OpenCL devices, in the child ----

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

static json_t *list_devices(void)
{
    struct device_info devices[DEVICE_MAX];
    const char *why = "";
    const int count = device_list(devices, &why);
    json_t *array = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(array, info_json(i, &devices[i]));
    return json_pack("{s:o,s:s}", "devices", array, "why", why);
}

// ---- the sharing modes of a device, in the child ----

struct sharing_mode {
    const char *name;
    bool works;
    char why[256]; // one line: why it works or fails
};

// Returns true if a path on the device uses the sharing mode `name` and filters a frame correctly.
static bool try_mode(struct device *device, enum path_kind kind, struct gl_context *gl, const char *name, char why[WHY])
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
    return try_path(&setup, name, why);
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
        text_append(mode->why, sizeof(mode->why), "%sover %s: %.100s", text_if(mode->why[0], "; "),
                    gl.glx_context ? "GLX" : "EGL", why);
    device_close(device);
}

// Writes the modes tested so far. The parent knows the others as not tested.
static void write_mode(const struct sharing_mode *mode)
{
    send_json(json_pack("{s:{s:b,s:o}}", mode->name, "works", (int)mode->works, "why", text_json(mode->why)));
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

static void inspect_device(int number)
{
    struct device_info devices[DEVICE_MAX];
    char error[WHY] = "";
    const char *why;
    const int count = device_list(devices, &why);
    if (number < 0 || number >= count)
        return;
    log_keep_error(error, WHY); // nobody sees the log of a child
    struct device *device = device_open(&devices[number], NULL, NULL);
    log_keep_error(NULL, 0);
    send_json(json_pack("{s:b}", "opens", device != NULL));
    inspect_alone(device, error);
    device_close(device);
    if (device)
        inspect_shared(&devices[number]);
}

// ---- the parent ----

static int limit_of(const char *what)
{
    return strcmp(what, INSPECT_DEVICE) == 0 ? DEVICE_LIMIT_S : LIMIT_S;
}

struct answers {
    json_t *all;
    const char *what, *argument;
    struct status_line status;
};

// Adds a line, which is a JSON object; NULL: the child is still at work.
static bool merge(void *context, char *text)
{
    struct answers *answers = context;
    json_t *part = text ? json_loads(text, 0, NULL) : NULL;
    if (json_is_object(part))
        json_object_update(answers->all, part);
    json_decref(part);
    if (!text)
        status_line_tick(&answers->status, "testing %s %s", answers->what, answers->argument);
    return true;
}

json_t *inspect(const char *what, const char *argument, char why[INSPECT_WHY])
{
    char parent[16];
    int value;
    snprintf(parent, sizeof(parent), "%d", (int)getpid());
    char *const arguments[] = {"monocle", "inspect", parent, (char *)what, (char *)argument, NULL};
    struct answers answers = {.all = json_object(), .what = what, .argument = argument};
    const enum child_end end = child_talk(child_program, arguments, limit_of(what) * 1000, &value, merge, &answers);
    status_line_end(&answers.status);
    why[0] = '\0';
    if (end != CHILD_EXITED || value != DONE)
        child_explain(end, value, limit_of(what), limit_of(what), why);
    return answers.all;
}

// ---- the child ----

static void load_driver(const char *library)
{
    send_json(json_pack("{s:o}", "error", dlopen(library, RTLD_NOW) ? json_string("") : text_json(dlerror())));
    send_json(list_devices());
}

static void open_cameras(void)
{
    int count;
    struct camera_node *nodes = camera_nodes(&count);
    for (int i = 0; i < count; i++) {
        const struct camera_node *node = &nodes[i];
        send_json(json_pack("{s:{s:o,s:o,s:b,s:o,s:o}}", node->path, "name", text_json(node->card), "driver",
                            text_json(node->driver), "opened", (int)node->opened, "why",
                            text_json(node->why ? node->why : ""), "passed", text_json(node->passed)));
    }
    free(nodes);
}

static void answer(const char *what, const char *argument)
{
    if (strcmp(what, INSPECT_OPENCL) == 0)
        send_json(list_devices());
    else if (strcmp(what, INSPECT_DRIVER) == 0)
        load_driver(argument);
    else if (strcmp(what, INSPECT_DEVICE) == 0)
        inspect_device(atoi(argument));
    else if (strcmp(what, INSPECT_GL) == 0)
        inspect_gl();
    else
        open_cameras();
}

int inspect_answer(char *const *argv)
{
    child_begin(atoi(argv[1]), child_memory(DATA_LEAST), limit_of(argv[2]));
    drivers_guard_skip();
    answer(argv[2], argv[3]);
    return DONE;
}
