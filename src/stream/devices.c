// devices.c: lists, chooses and opens OpenCL devices, and watches their kernels
#include "stream/devices.h"

#include "base/edited.h"
#include "base/log.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

struct device *devices_open(struct devices *d, int index)
{
    if (index < 0 || d->device[index])
        return index < 0 ? NULL : d->device[index];
    const struct gl_handles gl = window_gl_handles(d->window);
    d->device[index] = device_open(&d->info[index], &gl, d->kernels);
    return d->device[index];
}

// Returns the default device: the first one that opens and that can share with the window's GL if the path does so.
// After the first device that cannot share, tries only GPUs. If none can share, returns the first device that opened.
// -1: none.
static int preferred_device(struct devices *d, enum path_kind kind)
{
    int found = -1;
    for (int i = 0; i < d->count; i++) {
        const bool wanted = found < 0 || d->info[i].type & CL_DEVICE_TYPE_GPU;
        if (!wanted || !devices_open(d, i))
            continue;
        if (!d->window || !path_kind_info(kind)->shares_gl || d->device[i]->shares_gl)
            return i;
        found = found < 0 ? i : found;
    }
    return found;
}

bool devices_pick(struct devices *d, struct wish *wish, const char *name)
{
    if (name && name[0]) {
        wish->device = device_choose(d->info, d->count, name);
        return wish->device >= 0;
    }
    wish->device = path_kind_info(wish->kind)->needs_device ? preferred_device(d, wish->kind) : 0;
    return true;
}

// The path for systems whose GPU has no OpenCL: gl on a GPU, otherwise cpu, if that can run the chain.
static enum path_kind path_beside_opencl(struct window *window, const struct chain *chain)
{
    const struct gl_context *gl = window_gl(window);
    return (gl && !gl->software) || !path_compiles(chain) ? PATH_GL : PATH_CPU;
}

static bool only_processors(const struct devices *d)
{
    int processors = 0;
    for (int i = 0; i < d->count; i++)
        processors += d->info[i].type & CL_DEVICE_TYPE_CPU ? 1 : 0;
    return processors == d->count;
}

enum path_kind devices_kind(const struct devices *d, const struct wish *wish)
{
    return wish->device >= 0 && !only_processors(d) ? PATH_DEFAULT : path_beside_opencl(d->window, &wish->chain);
}

bool devices_choose(struct devices *d, struct wish *wish, const struct device_choice *choice)
{
    const struct path_kind_info *kind = path_kind_info(wish->kind);
    const char *why = NULL;
    const bool named = choice->name && choice->name[0];
    wish->device = -1;
    d->named = named;
    if (!kind->needs_device && !choice->later)
        return true;
    d->count = device_list(d->info, &why);
    const bool slow = d->count > 0 && only_processors(d) && !choice->kind_named && !named && !d->kernels && !wish->tune;
    if (slow && !path_compiles(&wish->chain)) {
        path_warn_compiler(wish->kind);
    } else if (slow) {
        wish->kind = wish->chosen_kind = path_beside_opencl(d->window, &wish->chain);
        wish->chosen_why = "OpenCL has only CPUs, and this path is faster";
        kind = path_kind_info(wish->kind);
    }
    if (d->count > 0) {
        if (!devices_pick(d, wish, choice->name))
            return false;
        if (!kind->needs_device || devices_open(d, wish->device))
            return true;
        why = "none can be opened";
        wish->device = -1;
    }
    if (!kind->needs_device)
        return true;
    if (named || !kind->steps_down) {
        log_error("there is no OpenCL device: %s; the cpu path (-p cpu) and the gl path (-p gl) work without one", why);
        return false;
    }
    const struct gl_context *gl = window_gl(d->window);
    wish->kind = path_beside_opencl(d->window, &wish->chain);
    if (!path_compiles(&wish->chain))
        path_warn_compiler(wish->kind);
    log_warn("there is no OpenCL device: %s; using the %s path%s%s", why, path_kind_name(wish->kind), gl ? ": " : "",
             !gl            ? ""
             : gl->software ? "GL draws on the CPU, too"
                            : gl->name);
    return true;
}

bool devices_serve(struct devices *d, const struct wish *wish, enum path_kind kind)
{
    const struct path_kind_info *info = path_kind_info(kind);
    return (!info->needs_device || devices_open(d, wish->device)) && (!info->needs_gl || wish->gl);
}

int devices_index(const struct devices *d, const struct device *device)
{
    int index = 0;
    while (d->device[index] != device)
        index++;
    return index;
}

bool devices_watch_kernels(struct devices *d)
{
    if ((d->watch = edited_open(d->kernels)) > 0)
        return true;
    log_error("cannot watch %s for edited kernels: %s", d->kernels, strerror(errno));
    return false;
}

static bool is_kernel(const char *name, const void *context)
{
    (void)context;
    const char *dot = name[0] != '.' ? strrchr(name, '.') : NULL;
    return dot && (strcmp(dot, ".cl") == 0 || strcmp(dot, ".glsl") == 0);
}

bool devices_kernels_changed(const struct devices *d)
{
    return edited_any(d->watch, is_kernel, NULL);
}

void devices_close(struct devices *d)
{
    if (d->watch > 0)
        close(d->watch);
    d->watch = 0;
    for (int i = 0; i < d->count; i++) {
        device_close(d->device[i]);
        d->device[i] = NULL;
    }
}
