// zerocopy.c: the path `zerocopy`, which uses the first sharing mode that works
#include "path/backend.h"

#include "compute/device.h"

#include <stdio.h>
#include <stdlib.h>

// Sets the places of the output that the setup allows. Returns why the path shares no texture, or why it does.
static const char *find_outputs(const struct path_setup *setup, bool possible[OPENCL_OUTPUTS])
{
    const struct device *device = setup->device;
    const bool shares = setup->textures && device->shares_gl;
    // On NVIDIA 580, conversion to YUV from a shared image gave wrong bytes, so a result that is converted stays in a
    // buffer.
    const bool encodes = setup->encode.width > 0;
    possible[OUTPUT_TEXTURE] = shares && !encodes && !setup->measures;
    possible[OUTPUT_MAPPED] = device->info.host_unified;
    possible[OUTPUT_READ] = true;
    if (shares && encodes)
        return "the virtual camera needs results in a buffer";
    if (shares && setup->measures)
        return "measures need results in a buffer";
    return setup->textures ? device->sharing_why : "no window";
}

// path->info.why says why the modes before it failed. A kernel that does not compile fails in every mode, so *error is
// that of the last mode.
struct path *zerocopy_open(const struct path_setup *setup, char **error)
{
    bool possible[OPENCL_OUTPUTS];
    const char *why = find_outputs(setup, possible);
    struct path *path = NULL;
    for (enum opencl_output output = OUTPUT_TEXTURE; !path && output < OPENCL_OUTPUTS; output++) {
        if (!possible[output])
            continue;
        if (error) {
            free(*error);
            *error = NULL;
        }
        path = opencl_open(setup, output, error);
        if (path)
            snprintf(path->info.why, sizeof(path->info.why), "%s%s",
                     output == OUTPUT_TEXTURE ? "" : "no GL sharing: ", why);
        else if (output == OUTPUT_TEXTURE)
            why = "cannot create shared textures";
    }
    return path;
}
