// devices.h: the OpenCL devices of this system, each opened when first used. Main thread. Zeroed has none.
#pragma once

#include "compute/device.h"
#include "path/choice.h"
#include "screen/window.h"
#include "stream/state.h"

struct devices {
    struct device_info info[DEVICE_MAX];
    struct device *device[DEVICE_MAX]; // NULL: not open
    int count;
    bool named; // devices_choose was given a device
    int watch;  // descriptor of watch_file for `kernels`; 0: none
    // The caller sets these two; both are borrowed.
    struct window *window; // devices share with its GL context; NULL: none
    const char *kernels;   // directory of kernels that replace the built-in ones; NULL: none
};

// Lists the devices, and sets the kind of path and the device of the state. Replaces the kind by path_first in two
// cases: 1. No device opens for a path that may step down (logged). 2. All devices are CPUs, and the user names no
// path, device or kernels, and does not tune. False if there is no device of that name, or none for a path that needs
// one (logged). `name`: as --device; NULL or "": the preferred one. `later`: lists the devices also if the path needs
// none, because the settings may change.
bool devices_choose(struct devices *devices, const struct settings *settings, struct stream_state *state,
                    const char *name, bool later);
// Sets state->device to the listed device `name`; false if there is none (logged). NULL or "": the first device that
// opens, preferably one that shares GL with the window if the path can use that; -1 if none opens; 0 if the path needs
// no device.
bool devices_pick(struct devices *devices, struct stream_state *state, const char *name);
// Returns what paths can use. `gl`: the GL context that paths draw in; NULL: none.
struct path_offer devices_offer(const struct devices *devices, const struct stream_state *state,
                                const struct chain *chain, const struct gl_context *gl);
// Returns the device, opened if it wasn't. NULL if `index` is -1, or on failure (logged).
struct device *devices_open(struct devices *devices, int index);
// Returns true if a path of this kind can be built: opens the state's device if the path needs one. A failure to open
// it is logged.
bool devices_serve(struct devices *devices, const struct stream_state *state, enum path_kind kind);
// Returns the index of an open device.
int devices_index(const struct devices *devices, const struct device *device);
// Watches the directory `kernels`. False on failure (logged).
bool devices_watch_kernels(struct devices *devices);
// Returns true if a .cl or .glsl file in the watched directory was written, moved in or deleted since the last call.
// Never waits.
bool devices_kernels_changed(const struct devices *devices);
// Closes the devices and the watch; the devices stay listed. No path and no source may still use their memory; the GL
// context must still be current.
void devices_close(struct devices *devices);
