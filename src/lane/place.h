// place.h: the path kind, the OpenCL device and the GL context that run the pipeline
#pragma once

#include "path/path.h"

struct lane_place {
    enum path_kind kind;
    struct device *device; // NULL: the kind needs none
    struct gl_context *gl; // current on this thread; NULL: the kind needs none
    bool own_gl;           // lane_place_close closes it
};

// Chooses and opens them. `kind` -1: zerocopy, or cpu if OpenCL has no device or only CPUs. `device`: as --device, NULL
// or "": the first one. `gl`: the current context of a window, borrowed; NULL: none. Returns false on failure (logged).
bool lane_place_open(struct lane_place *place, int kind, const char *device, struct gl_context *gl);
// Closes them. No path may use them, and no source may use the device's memory. Accepts a zeroed struct.
void lane_place_close(struct lane_place *place);
