// context.c: an OpenCL device opened, with GL sharing where it works
#include "compute/device.h"

#include "base/log.h"
#include "compute/sharing.h"

#include <CL/cl_gl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void set_why(struct device *device, const char *text, cl_int result)
{
    if (result == CL_SUCCESS)
        snprintf(device->sharing_why, sizeof(device->sharing_why), "%s", text);
    else
        snprintf(device->sharing_why, sizeof(device->sharing_why), "%s: %s (%d)", text, compute_result_name(result),
                 (int)result);
}

// Tries a context that shares with GL. Some drivers take the properties and refuse every texture later: hence the
// probe.
static cl_context shared_context(struct device *device, const struct device_gl *gl)
{
    const bool glx = gl->glx_context != NULL;
    const cl_context_properties properties[] = {
        CL_CONTEXT_PLATFORM,
        (cl_context_properties)device->info.platform,
        CL_GL_CONTEXT_KHR,
        (cl_context_properties)(glx ? gl->glx_context : gl->egl_context),
        glx ? CL_GLX_DISPLAY_KHR : CL_EGL_DISPLAY_KHR,
        (cl_context_properties)(glx ? gl->glx_display : gl->egl_display),
        0,
    };
    cl_int result;
    cl_context context = clCreateContext(properties, 1, &device->info.id, NULL, NULL, &result);
    if (!context)
        set_why(device,
                glx ? "the driver rejects a context shared with GLX" : "the driver rejects a context shared with EGL",
                result);
    return context;
}

static void plain_context(struct device *device)
{
    const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, (cl_context_properties)device->info.platform, 0};
    cl_int result;
    device->context = clCreateContext(properties, 1, &device->info.id, NULL, NULL, &result);
    if (!device->context) {
        char doing[200];
        snprintf(doing, sizeof(doing), "open the OpenCL device '%s'", device->info.name);
        compute_ok(result, doing);
    }
}

struct device *device_open(const struct device_info *info, const struct device_gl *gl, const char *kernel_dir)
{
    struct device *device = calloc(1, sizeof(*device));
    if (!device) {
        log_error("cannot open the OpenCL device '%s': out of memory", info->name);
        return NULL;
    }
    device->info = *info;
    set_why(device, "no GL context to share with", CL_SUCCESS);
    if (!(device->verdicts = verdicts_open()))
        goto fail;
    if (kernel_dir && !(device->kernel_dir = strdup(kernel_dir)))
        goto fail;
    if (gl && (gl->glx_context || gl->egl_context)) {
        device->context = shared_context(device, gl);
        if (device->context && !sharing_probe(device)) {
            clReleaseContext(device->context);
            device->context = NULL;
        }
    }
    device->shares_gl = device->context != NULL;
    if (!device->context)
        plain_context(device);
    if (!device->context)
        goto fail;
    if (info->dmabuf)
        device->dmabuf = dmabuf_look_up(info->platform);
    if (!info->host_unified || device->dmabuf.acquire)
        device->pages = pinned_open(device->context, info->id, !info->host_unified, &device->dmabuf);
    return device;
fail:
    device_close(device);
    return NULL;
}

void device_close(struct device *device)
{
    if (!device)
        return;
    pinned_close(device->pages);
    if (device->context)
        clReleaseContext(device->context);
    verdicts_close(device->verdicts);
    free(device->kernel_dir);
    free(device);
}
