// place.c: opens the device or the GL context that runs the pipeline
#include "lane/place.h"

#include "base/log.h"
#include "compute/gl_context.h"

static bool only_processors(const struct device_info *devices, int count)
{
    int processors = 0;
    for (int i = 0; i < count; i++)
        processors += devices[i].type & CL_DEVICE_TYPE_CPU ? 1 : 0;
    return processors == count;
}

// `chosen`: the user named the path.
static bool open_device(struct lane_place *place, bool chosen, const char *name)
{
    struct device_info devices[DEVICE_MAX];
    const char *why = NULL;
    const bool named = name && name[0];
    const int count = device_list(devices, &why);
    if (count > 0 && !chosen && !named && only_processors(devices, count)) {
        place->kind = PATH_CPU; // faster than OpenCL on the same CPUs
        return true;
    }
    const int index = count > 0 ? device_choose(devices, count, name) : -1;
    if (count > 0 && index < 0)
        return false;
    if (index >= 0 && (place->device = device_open(&devices[index], NULL, NULL)))
        return true;
    why = count > 0 ? "it cannot be opened" : why;
    if (named || !path_kind_info(place->kind)->steps_down) {
        log_error("there is no OpenCL device: %s; the cpu path (-p cpu) and the gl path (-p gl) work without one", why);
        return false;
    }
    log_warn("there is no OpenCL device: %s; using the cpu path", why);
    place->kind = PATH_CPU;
    return true;
}

static bool open_gl(struct lane_place *place, struct gl_context *gl)
{
    char why[256];
    place->gl = gl;
    if (gl)
        return true;
    if (!(place->gl = gl_context_open(false, why))) {
        log_error("cannot run the gl path: there is no GL context: %s", why);
        return false;
    }
    place->own_gl = gl_context_bind(place->gl, false);
    if (place->own_gl)
        return true;
    gl_context_close(place->gl);
    place->gl = NULL;
    return false;
}

bool lane_place_open(struct lane_place *place, int kind, const char *device, struct gl_context *gl)
{
    *place = (struct lane_place){.kind = kind >= 0 ? (enum path_kind)kind : PATH_DEFAULT};
    const struct path_kind_info *info = path_kind_info(place->kind);
    if (info->needs_device)
        return open_device(place, kind >= 0, device);
    return !info->needs_gl || open_gl(place, gl);
}

void lane_place_close(struct lane_place *place)
{
    device_close(place->device);
    if (place->own_gl) {
        gl_context_unbind(place->gl, false);
        gl_context_close(place->gl);
    }
    *place = (struct lane_place){0};
}
