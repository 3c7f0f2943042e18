// device.c: the OpenCL device or the processor that a measurement runs on
#include "command/bench/bench.h"

#include "base/log.h"
#include "base/vectors.h"

#include <stdio.h>
#include <string.h>
#include <sys/utsname.h>

bool bench_needs_device(const struct bench *bench)
{
    for (int i = 0; i < bench->paths; i++) {
        if (path_kind_info(bench->path[i])->needs_device)
            return true;
    }
    return false;
}

bool bench_open_device(struct bench *bench, const struct gl_handles *gl)
{
    struct device_info devices[DEVICE_MAX];
    const char *why = "cannot open it", *named = bench->options->device;
    if (!bench_needs_device(bench))
        return true;
    const int count = device_list(devices, &why);
    const int chosen = count > 0 ? device_choose(devices, count, named) : -1;
    if (count > 0 && chosen < 0)
        return false;
    if (chosen >= 0 && (bench->device = device_open(&devices[chosen], gl, bench->options->kernels)))
        return true;
    if (bench->options->paths || (named && *named)) {
        log_error("there is no OpenCL device: %s; the cpu path (-p cpu) works without one", why);
        return false;
    }
    log_warn("there is no OpenCL device: %s; measuring only the cpu path", why);
    bench->path[0] = PATH_CPU;
    bench->paths = 1;
    return true;
}

void bench_close_device(struct bench *bench)
{
    device_close(bench->device);
    bench->device = NULL;
}

// Reads the first line that begins with `start`, after its colon if it has one.
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

const char *bench_device_name(const struct bench *bench, enum path_kind path)
{
    return path_kind_info(path)->needs_device ? bench->device->info.name : bench->cpu_name;
}

int bench_thread_counts(const struct bench *bench, enum path_kind path)
{
    return path_kind_info(path)->needs_device ? 1 : bench->threads;
}

int bench_threads(const struct bench *bench, enum path_kind path, int index)
{
    if (!path_kind_info(path)->needs_device)
        return bench->thread[index];
    return bench->device->info.type & CL_DEVICE_TYPE_CPU ? bench->device->info.compute_units : 0;
}
