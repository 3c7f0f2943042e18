// devices_command.c: the command that lists the OpenCL devices, tests which sharing modes they support, and names the
// GL
#include "inspect/inspect.h"

#include "base/json_text.h"
#include "base/log.h"
#include "command/shared.h"
#include "compute/device.h"
#include "compute/driver_cache.h"
#include "compute/drivers.h"
#include "path/choice.h"

#include <jansson.h>
#include <stdio.h>
#include <string.h>

static const char *const examples[] = {
    "monocle devices  list the devices",
    "monocle devices --json  list the devices as JSON",
    "monocle live -d 0  run the live view on the first device",
    NULL,
};
static const char *const details[] = {
    "The option -d of the other commands takes a number from this list, a type (gpu, cpu, accelerator), or a part of a "
    "device's name. The cpu and gl paths need no device.",
    "monocle opens each device and runs a test frame in each sharing mode, the fastest mode first:",
    "gl-shared\tkernels write the texture that the window shows",
    "mapped\tkernels write host memory; OpenCL copies nothing",
    "opencl\tOpenCL copies each frame to the device, and each result back",
    "Below the devices, the list shows the GL context of a window, and the GL context of --headless, and the paths "
    "that "
    "-p auto times in a window.",
    "A child process with a limit of 20 s lists the devices, and one with a limit of 180 s queries each device. If a "
    "driver crashes or hangs, a warning names it, and the list continues with the other drivers.",
    "The members of a device in --json, besides those of the list (all facts that a driver reports: clinfo --json):",
    "vendor_id\tPCI vendor id, such as \"0x10de\"",
    "opens\ttrue if the device can be opened",
    "sharing\tthe sharing modes: mode, works, why",
    "problem\twhy a query failed; null if all succeeded",
    NULL,
};
static const char *const exits[] = {
    "0\tthe list was printed",
    "1\tstandard output cannot be written",
    "2\twrong arguments",
    "3\tthere is no OpenCL device, or -d selects none",
    NULL,
};
struct devices_options {
    bool json;
    const char *device;
};
#define AT(member) offsetof(struct devices_options, member)
static const struct option options[] = {
    {"device", 'd', OPTION_TEXT, "DEVICE", .help = "list only this device; default: all devices", .offset = AT(device),
     .choices = "gpu|cpu|accelerator", .complete = "device"},
    JSON_OPTION(AT(json), LIST_JSON_HELP),
    {0},
};
// ---- query ----

static const char *const modes[] = {"gl-shared", "mapped", "opencl"};
enum { MODES = sizeof(modes) / sizeof(*modes) };

// Adds what a child finds out about the device.
static void complete(json_t *device)
{
    char why[INSPECT_WHY], number[16];
    json_t *sharing = json_array();
    snprintf(number, sizeof(number), "%d", (int)json_integer_value(json_object_get(device, "number")));
    json_t *found = inspect(INSPECT_DEVICE, number, why);
    for (int i = 0; i < MODES; i++) {
        json_t *mode = json_object_get(found, modes[i]);
        const char *reason = json_string_value(json_object_get(mode, "why"));
        char untested[INSPECT_WHY + 32];
        snprintf(untested, sizeof(untested), "not tested: %s", why[0] ? why : "the device cannot be opened");
        json_array_append_new(sharing, json_pack("{s:s,s:b,s:s}", "mode", modes[i], "works",
                                                 json_is_true(json_object_get(mode, "works")), "why",
                                                 reason ? reason : untested));
        json_object_del(found, modes[i]);
    }
    json_object_set_new(device, "opens", json_false()); // the child replaces it
    json_object_update(device, found);
    json_object_set_new(device, "sharing", sharing);
    json_object_set_new(device, "problem", why[0] ? text_json(why) : json_null());
    json_decref(found);
}

// Returns the number of the device that `text` means, -1 if none matches (logged).
static int choose(json_t *array, const char *text)
{
    struct device_info devices[DEVICE_MAX] = {0};
    int count = 0;
    size_t i;
    json_t *each;
    json_array_foreach(array, i, each)
    {
        const char *type = "", *name = "", *platform = "";
        json_unpack(each, "{s:s,s:s,s:s}", "type", &type, "name", &name, "platform", &platform);
        struct device_info *info = &devices[count++];
        info->type = DEVICE_ACCELERATOR;
        if (strcmp(type, "gpu") == 0)
            info->type = DEVICE_GPU;
        else if (strcmp(type, "cpu") == 0)
            info->type = DEVICE_CPU;
        snprintf(info->name, sizeof(info->name), "%s", name);
        snprintf(info->platform_name, sizeof(info->platform_name), "%s", platform);
    }
    return device_choose(devices, count, text);
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

static const char *text_of(json_t *object, const char *name)
{
    const char *text = json_string_value(json_object_get(object, name));
    return text ? text : "?";
}

static size_t number_of(json_t *object, const char *name)
{
    return (size_t)json_integer_value(json_object_get(object, name));
}

static bool is_true(json_t *object, const char *name)
{
    return json_is_true(json_object_get(object, name));
}

static void print_device(json_t *device)
{
    printf("%zu  %s\n", number_of(device, "number"), text_of(device, "name"));
    printf("   type       %s\n", text_of(device, "type"));
    printf("   platform   %s, %s\n", text_of(device, "platform"), text_of(device, "version"));
    printf("   driver     %s\n", text_of(device, "driver"));
    printf("   compute    %zu units, work-groups up to %zu\n", number_of(device, "compute_units"),
           number_of(device, "max_work_group"));
    printf("   memory     ");
    print_bytes(number_of(device, "memory_bytes"));
    printf("%s, local ", is_true(device, "host_unified") ? " shared with the host" : "");
    print_bytes(number_of(device, "local_bytes"));
    printf("\n   images     %s\n", is_true(device, "images") ? "yes" : "no");
    printf("   GL events  %s\n", is_true(device, "gl_event") ? "yes" : "no");
    size_t i;
    json_t *mode;
    json_array_foreach(json_object_get(device, "sharing"), i, mode)
        printf("   %-9s  %s: %s\n", text_of(mode, "mode"), is_true(mode, "works") ? "yes" : "no", text_of(mode, "why"));
}

static void print_list(json_t *array, const struct devices_options *o, int only)
{
    size_t i;
    json_t *device;
    json_t *chosen = json_array();
    json_array_foreach(array, i, device)
    {
        if (only >= 0 && only != (int)i)
            continue;
        complete(device);
        json_array_append(chosen, device);
        if (!o->json)
            print_device(device);
    }
    if (o->json)
        print_json(chosen, JSON_INDENT(2));
    else
        json_decref(chosen);
}

static void print_context(const char *name, json_t *context, const char *why)
{
    printf("   %-9s  %s", name, context ? text_of(context, "text") : why);
    if (is_true(context, "filters"))
        printf(", the gl path works");
    else if (is_true(context, "works"))
        printf(", the gl path does not work: %s", text_of(context, "why"));
    printf("\n");
}

static bool has_mode(json_t *device, const char *name)
{
    size_t i;
    json_t *mode;
    json_array_foreach(json_object_get(device, "sharing"), i, mode)
    {
        if (strcmp(text_of(mode, "mode"), name) == 0)
            return is_true(mode, "works");
    }
    return false;
}

// Prints the kinds of path that -p auto times in a window: "zerocopy, gl, opencl, cpu".
static void print_candidates(json_t *devices, json_t *window)
{
    struct path_offer offer = {.gl = is_true(window, "works"),
                               .gl_gpu = is_true(window, "works") && !is_true(window, "software"),
                               .cpu = true};
    enum path_kind kinds[PATH_KINDS];
    size_t i;
    json_t *device;
    json_array_foreach(devices, i, device)
    {
        offer.gpu = offer.gpu || strcmp(text_of(device, "type"), "cpu") != 0;
        offer.shares = offer.shares || has_mode(device, modes[0]);
    }
    const int count = path_candidates(&offer, PATH_CPU, kinds);
    printf("   -p auto   ");
    for (int k = 1; k <= count; k++) // the cpu path last
        printf("%s %s", k > 1 ? "," : "", path_kind_name(kinds[k % count]));
    printf("%s\n", count > 1 ? ": the fastest" : "");
}

// Prints the GL that the window and runs without one get, and what -p auto makes of it.
static void print_gl(json_t *devices)
{
    static const char *const windows[] = {"GLX", "EGL", "ES"}; // the live view uses the first that works
    char why[INSPECT_WHY];
    json_t *found = inspect(INSPECT_GL, "", why), *window = json_object_get(found, "GLX");
    for (int i = 2; i >= 0; i--) {
        if (is_true(json_object_get(found, windows[i]), "works"))
            window = json_object_get(found, windows[i]);
    }
    json_t *headless = json_object_get(found, "headless");
    printf("GL\n");
    print_context("window", window, why);
    print_context("headless", headless, why);
    print_candidates(devices, window);
    json_decref(found);
}

static int devices_run(int argc, char **argv)
{
    struct devices_options o = {0};
    struct command_operands operands;
    char why[INSPECT_WHY];
    if (!command_parse(&devices_command, argc, argv, &o, 0, &operands))
        return operands.code;
    drivers_guard(&(struct driver_guard){.again = true});
    json_t *found = inspect(INSPECT_OPENCL, "", why);
    json_t *array = json_object_get(found, "devices");
    const bool any = json_array_size(array) > 0;
    const int only = any && o.device ? choose(array, o.device) : -1;
    const int code = any && (!o.device || only >= 0) ? EXIT_OK : EXIT_NOTHING;
    if (any)
        cache_entry_check();
    if (code == EXIT_OK)
        print_list(array, &o, only);
    else if (o.json)
        print_json(json_array(), 0);
    if (!any)
        log_error("there is no OpenCL device: %s; the cpu path (-p cpu) works without one; to find the cause, run: "
                  "monocle doctor",
                  why[0] ? why : text_of(found, "why"));
    if (!o.json && !o.device)
        print_gl(array);
    json_decref(found);
    return code;
}

const struct command devices_command = {
    .name = "devices",
    .usage = "[options]",
    .summary = "list the OpenCL devices and their sharing modes",
    .examples = examples,
    .details = details,
    .exits = exits,
    .options = options,
    .run = devices_run,
};
