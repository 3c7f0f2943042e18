// devices.c: lists, chooses and opens OpenCL devices, and watches their kernels
#include "stream/devices.h"

#include "base/file.h"
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
        const bool wanted = found < 0 || d->info[i].type & DEVICE_GPU;
        if (!wanted || !devices_open(d, i))
            continue;
        if (!d->window || !path_kind_info(kind)->shares_gl || d->device[i]->shares_gl)
            return i;
        found = found < 0 ? i : found;
    }
    return found;
}

bool devices_pick(struct devices *d, struct stream_state *state, const char *name)
{
    if (name && name[0]) {
        state->device = device_choose(d->info, d->count, name);
        return state->device >= 0;
    }
    state->device = path_kind_info(state->kind)->needs_device ? preferred_device(d, state->kind) : 0;
    return true;
}

static bool only_processors(const struct devices *d)
{
    int processors = 0;
    for (int i = 0; i < d->count; i++)
        processors += d->info[i].type & DEVICE_CPU ? 1 : 0;
    return processors == d->count;
}

struct path_offer devices_offer(const struct devices *d, const struct stream_state *state, const struct chain *chain,
                                const struct gl_context *gl)
{
    const int at = state->device;
    const bool gpu = at >= 0 && !(d->info[at].type & DEVICE_CPU);
    return (struct path_offer){
        .device = at >= 0,
        .gpu = gpu,
        .shares = gpu && d->window && d->device[at] && d->device[at]->shares_gl,
        .gl = gl != NULL,
        .gl_gpu = gl && !gl->software,
        .cpu = path_compiles(chain),
    };
}

// Uses the first kind of path that works without a GPU in OpenCL.
static void leave_opencl(const struct devices *d, const struct settings *settings, struct stream_state *state)
{
    const struct stream_state without = {.device = -1};
    const struct path_offer offer = devices_offer(d, &without, &settings->chain, window_gl(d->window));
    state->kind = path_first(&offer);
}

// Reports the path that replaces one that finds no device. False if the user wants no other one (logged).
static bool step_down(struct devices *d, const struct settings *settings, struct stream_state *state, const char *why)
{
    const struct gl_context *gl = window_gl(d->window);
    const char *where = "";
    if (d->named || !path_kind_info(state->kind)->steps_down) {
        log_error("there is no OpenCL device: %s; the cpu path (-p cpu) and the gl path (-p gl) work without one", why);
        return false;
    }
    leave_opencl(d, settings, state);
    if (!path_compiles(&settings->chain))
        path_warn_compiler(state->kind);
    if (gl)
        where = gl->software ? "GL draws on the CPU, too" : gl->name;
    log_warn("there is no OpenCL device: %s; using the %s path%s%s", why, path_kind_name(state->kind), gl ? ": " : "",
             where);
    return true;
}

bool devices_choose(struct devices *d, const struct settings *settings, struct stream_state *state, const char *name,
                    bool later)
{
    const char *why = NULL;
    d->named = name && name[0];
    *state = stream_state_first(settings);
    if (!path_kind_info(state->kind)->needs_device && !later)
        return true;
    d->count = device_list(d->info, &why);
    const bool slow =
        d->count > 0 && only_processors(d) && state->automatic && !d->named && !d->kernels && !settings->tune;
    if (slow && !path_compiles(&settings->chain)) {
        path_warn_compiler(state->kind);
    } else if (slow) {
        leave_opencl(d, settings, state);
        state->why = "OpenCL has only CPUs, and this path is faster";
    }
    const bool needed = path_kind_info(state->kind)->needs_device;
    if (d->count > 0) {
        if (!devices_pick(d, state, name))
            return false;
        if (!needed || devices_open(d, state->device))
            return true;
        why = "none can be opened";
        state->device = -1;
    }
    return !needed || step_down(d, settings, state, why);
}

bool devices_serve(struct devices *d, const struct stream_state *state, enum path_kind kind)
{
    const struct path_kind_info *info = path_kind_info(kind);
    return (!info->needs_device || devices_open(d, state->device)) && (!info->needs_gl || state->gl);
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
    if ((d->watch = file_watch_open(d->kernels)) > 0)
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
    return file_watch_any(d->watch, is_kernel, NULL);
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
