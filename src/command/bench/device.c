// device.c: what measurements run on: the OpenCL device, the processor
#include "command/bench/bench.h"

#include "base/log.h"
#include "base/vectors.h"
#include "base/workers.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

bool bench_needs_device(const struct bench_wish *wish)
{
    for (int i = 0; i < wish->paths; i++) {
        if (path_kind_info(wish->path[i])->needs_device)
            return true;
    }
    return false;
}

bool bench_open_device(struct bench_wish *wish, const struct device_gl *gl, struct device **device)
{
    struct device_info devices[DEVICE_MAX];
    const char *why = "cannot open it", *named = wish->options->device;
    if (!bench_needs_device(wish))
        return true;
    const int count = device_list(devices, &why);
    const int chosen = count > 0 ? device_choose(devices, count, named) : -1;
    if (count > 0 && chosen < 0)
        return false;
    if (chosen >= 0 && (*device = device_open(&devices[chosen], gl, wish->options->kernels)))
        return true;
    if (wish->options->paths || (named && *named)) {
        log_error("there is no OpenCL device: %s; the cpu path (-p cpu) works without one", why);
        return false;
    }
    log_warn("there is no OpenCL device: %s; measuring only the cpu path", why);
    wish->path[0] = PATH_CPU;
    wish->paths = 1;
    return true;
}

void bench_default_threads(struct bench_wish *wish)
{
    if (wish->threads > 0)
        return;
    wish->thread[wish->threads++] = 1;
    if (workers_available() > 1)
        wish->thread[wish->threads++] = workers_available();
}

// Reads the first line of a file that begins with `start`, from its colon on if it has one.
static bool read_line(const char *path, const char *start, char text[96])
{
    FILE *file = fopen(path, "r");
    char line[256];
    bool found = false;
    while (file && !found && fgets(line, sizeof(line), file)) {
        const char *colon = strchr(line, ':'), *value = colon ? colon + 1 + strspn(colon + 1, " ") : line;
        found = strncmp(line, start, strlen(start)) == 0;
        snprintf(text, 96, "%.*s", (int)strcspn(value, "\n"), value);
    }
    if (file)
        fclose(file);
    return found;
}

void bench_cpu_name(char name[128])
{
    char model[96];
    struct utsname machine;
    // Kernels for ARM have no "model name", but most of them have a device tree.
    if (!read_line("/proc/cpuinfo", "model name", model) &&
        !read_line("/sys/firmware/devicetree/base/model", "", model))
        snprintf(model, sizeof(model), "%s", uname(&machine) == 0 ? machine.machine : "cpu");
    snprintf(name, 128, "%s, %s", model, vectors_name(vectors_level()));
}

int bench_device_threads(const struct device *device)
{
    return device->info.type & CL_DEVICE_TYPE_CPU ? device->info.compute_units : 0;
}
