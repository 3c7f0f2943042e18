// device.c: the OpenCL device or the processor that a measurement runs on
#include "command/bench/bench.h"

#include "base/log.h"
#include "base/processor.h"
#include "base/vectors.h"
#include "compute/gl_context.h"

#include <stdio.h>
#include <string.h>

bool bench_needs_device(const struct bench *bench)
{
    for (int i = 0; i < bench->paths; i++) {
        if (path_kind_info(bench->path[i])->needs_device)
            return true;
    }
    return false;
}

// Removes the paths that need a device, or those that need GL.
static void drop_paths(struct bench *bench, bool device, bool gl)
{
    int count = 0;
    for (int i = 0; i < bench->paths; i++) {
        const struct path_kind_info *kind = path_kind_info(bench->path[i]);
        if (!(device && kind->needs_device) && !(gl && kind->needs_gl))
            bench->path[count++] = bench->path[i];
    }
    bench->paths = count;
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
    log_warn("there is no OpenCL device: %s; leaving out the paths that need one", why);
    drop_paths(bench, true, false);
    return true;
}

void bench_close_device(struct bench *bench)
{
    device_close(bench->device);
    bench->device = NULL;
}

bool bench_open_gl(struct bench *bench)
{
    char why[256];
    bool needed = false;
    for (int i = 0; i < bench->paths; i++)
        needed = needed || path_kind_info(bench->path[i])->needs_gl;
    if (!needed)
        return true;
    struct gl_context *gl = gl_context_open(false, why);
    if (!gl || !gl_context_bind(gl, false)) {
        gl_context_close(gl);
        if (bench->options->paths)
            log_error("there is no GL context: %s", why);
        else
            log_warn("there is no GL context: %s; leaving out the gl path", why);
        drop_paths(bench, false, true);
        return !bench->options->paths;
    }
    bench->gl = gl;
    bench->gl_name = gl->name;
    return true;
}

void bench_close_gl(struct bench *bench)
{
    if (bench->gl)
        gl_context_unbind(bench->gl, false);
    gl_context_close(bench->gl);
    bench->gl = NULL;
}

void bench_cpu_name(char name[128])
{
    char model[PROCESSOR_NAME];
    processor_model(model);
    snprintf(name, 128, "%s, %s", model, vectors_name(vectors_level()));
}

const char *bench_device_name(const struct bench *bench, enum path_kind path)
{
    if (path_kind_info(path)->needs_gl)
        return bench->gl_name ? bench->gl_name : "GL";
    return path_kind_info(path)->needs_device ? bench->device->info.name : bench->cpu_name;
}

int bench_thread_counts(const struct bench *bench, enum path_kind path)
{
    return path == PATH_CPU ? bench->threads : 1;
}

int bench_threads(const struct bench *bench, enum path_kind path, int index)
{
    if (path == PATH_CPU)
        return bench->thread[index];
    if (!path_kind_info(path)->needs_device)
        return 0;
    return bench->device->info.type & CL_DEVICE_TYPE_CPU ? bench->device->info.compute_units : 0;
}
