// devices.c: the command that lists the OpenCL devices
#include "command/devices.h"

#include "base/log.h"
#include "command/command.h"

#include <jansson.h>
#include <string.h>

struct devices_options {
    bool json;
};

static const struct option options[] = {
    {"json", 'j', OPTION_FLAG, .help = "print one JSON array on standard output",
     .offset = offsetof(struct devices_options, json)},
    {0},
};
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
    .options = options,
};

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
    for (int i = 0; i < PROBE_RUNGS; i++)
        printf("   %-9s  %s: %s\n", probe->rung[i].name, probe->rung[i].works ? "yes" : "no", probe->rung[i].why);
}

// The driver's text may not be UTF-8.
static json_t *text_json(const char *text)
{
    json_t *string = json_string(text);
    return string ? string : json_string("?");
}

static json_t *device_json(int number, const struct device_info *info, const struct probe *probe)
{
    json_t *rungs = json_array();
    for (int i = 0; i < PROBE_RUNGS; i++)
        json_array_append_new(rungs, json_pack("{s:s,s:b,s:o}", "rung", probe->rung[i].name, "works",
                                               (int)probe->rung[i].works, "why", text_json(probe->rung[i].why)));
    json_t *row =
        json_pack("{s:i,s:o,s:s,s:o,s:o,s:o,s:o}", "number", number, "name", text_json(info->name), "type",
                  device_type_name(info), "vendor", text_json(info->vendor), "platform", text_json(info->platform_name),
                  "version", text_json(info->version), "driver", text_json(info->driver));
    json_object_update_new(row, json_pack("{s:i,s:I,s:I,s:I,s:b,s:b,s:b,s:b,s:o}", "compute_units", info->compute_units,
                                          "max_work_group", (json_int_t)info->max_work_group, "memory_bytes",
                                          (json_int_t)info->memory_bytes, "local_bytes", (json_int_t)info->local_bytes,
                                          "images", (int)info->images, "host_unified", (int)info->host_unified,
                                          "gl_event", (int)info->gl_event, "opens", (int)probe->opens, "rungs", rungs));
    return row;
}

static void print_json(const struct device_info *devices, int count, const struct probe *probes)
{
    json_t *array = json_array();
    for (int i = 0; i < count; i++)
        json_array_append_new(array, device_json(i, &devices[i], &probes[i]));
    json_dumpf(array, stdout, JSON_INDENT(2));
    putchar('\n');
    json_decref(array);
}

static int devices_run(int argc, char **argv)
{
    struct devices_options o = {0};
    struct command_operands operands;
    int code;
    if (!command_parse(&list, argc, argv, &o, 0, &operands, &code))
        return code;
    struct device_info devices[DEVICE_MAX];
    struct probe probes[DEVICE_MAX];
    const char *why = "";
    const int count = device_list(devices, &why);
    probe_devices(devices, count, probes);
    if (o.json)
        print_json(devices, count, probes);
    for (int i = 0; i < count && !o.json; i++)
        print_device(i, &devices[i], &probes[i]);
    if (count > 0)
        return EXIT_OK;
    log_error("there is no OpenCL device: %s; the cpu path (-p cpu) works without one", why);
    return EXIT_NOTHING;
}

extern const struct command devices_command;
const struct command devices_command = {.list = &list, .run = devices_run};
