// passes.h: a pass of a chain on a device as a search space: its configurations, their validation and their time
#pragma once

#include "filter/chain.h"
#include "image/image.h"
#include "path/variants.h"
#include "tune/tuner.h"

// The chain and the frames to tune for. All members are borrowed.
struct tune_target {
    struct device *device;
    const struct chain *chain;
    struct image_shape input; // of every frame
    bool to_image;            // the last pass writes an OpenCL image, such as a texture, not a buffer
    bool low_priority;        // of the child processes
};

// Opens pass `number` of a plan of the chain, with or without tiles (variant.tiles). Its space has the allowed
// configurations of all variants that are for this type of device and fit the pass. Parameter 0 is the variant. The
// value of each other parameter is VALUE_NONE for variants that do not have it. The presets are the defaults of the
// variants.
//
// - `validate` runs the pass on small pictures with odd sizes, and compares the output with the cpu path's. It also
//   runs a picture of the real size without a comparison, because some kernels hang only there.
// - `prepare` copies random pictures to the device.
//   Their number is 2 for frames of up to 4 Mpixel. For larger frames it is 2 to 16, so that inputs and outputs exceed
//   the caches (256 MiB). A device with too little memory gets fewer.
// - `time` uses the device's clock.
struct subject *tune_pass_open(const struct tune_target *target, bool tiles, int number);

// Returns the choice of a configuration, and the configuration of a choice; -1: the space does not have it. Only for
// subjects of tune_pass_open.
struct variant_choice tune_pass_choice(const struct subject *subject, int configuration);
int tune_pass_find(const struct subject *subject, const struct variant_choice *choice);

// Searches the space of a pass, stores the winner, and closes the subject. False: a failure (logged).
typedef bool tune_pass_hook(void *context, struct subject *subject);
// Tunes all passes of a chain, planned as other commands run it. Ends early after a signal. False: a failure.
bool tune_chain(const struct tune_target *target, tune_pass_hook *tune, void *context);

// Opens a chain for frames of this shape, with this number of threads (0: one per CPU). Its space has all values of the
// parameters that change how the path runs the chain (path/cpu_rows.h).
//
// - `validate` compares the bytes with those of the generic rows. It needs no child process, because no code is built.
// - `time` uses the host's clock. A frame's time includes one read of its result, because every user reads it.
struct subject *tune_cpu_open(const struct chain *chain, const struct image_shape *input, int threads);
