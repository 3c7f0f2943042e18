// passes.h: a pass of a chain on a device as a search space: its configurations, their validation and their time
#pragma once

#include "compute/verdicts.h"
#include "filter/chain.h"
#include "image/image.h"
#include "path/probe.h"
#include "tune/space.h"

// The chain and the frames to tune for. All members are borrowed.
struct tune_target {
    struct device *device;
    const struct chain *chain;
    struct image_shape input; // of every frame
    bool to_image;            // the last pass writes an OpenCL image, such as a texture, not a buffer
};

// A chain has up to two plans. With `tiles`, one pass may convert and filter before its stencil. Without it, the
// conversion and the filters before a stencil are a pass of their own. Returns the number of passes; 0: the device has
// no variant for a pass of the plan. If both plans are the same, the one without `tiles` has 0 passes.
int tune_passes(const struct tune_target *target, bool tiles);

struct tune_pass;

// Opens pass `number` of the plan. NULL on failure (logged).
struct tune_pass *tune_pass_open(const struct tune_target *target, bool tiles, int number);
void tune_pass_close(struct tune_pass *pass); // accepts NULL

const char *tune_pass_name(const struct tune_pass *pass); // "blur+gray"
// Returns the allowed configurations of all variants that are for this type of device and fit the pass. Parameter 0 is
// the variant. Each other parameter is "-" for variants that do not have it.
const struct space *tune_pass_space(const struct tune_pass *pass);
// Writes the default configurations of the variants. Without tuning, the pass uses the first one that runs. Returns
// their number.
enum { TUNE_PRESETS = 8 };
int tune_pass_presets(const struct tune_pass *pass, int presets[TUNE_PRESETS]);
struct variant_choice tune_pass_choice(const struct tune_pass *pass, int configuration);

// Builds and runs the configuration in a child process, on small pictures with odd sizes, and compares the output with
// the cpu path's. After a failure, `why` has the reason. On any thread.
enum probe_status tune_pass_validate(const struct tune_pass *pass, int configuration, char why[VERDICT_TEXT]);

// Returns true if the pass converts or filters before its stencil. The chain's other plan then has two passes for it.
bool tune_pass_is_fused(const struct tune_pass *pass);
// Adds a result to the user's database (compute/tuned.h). For a fused pass, a choice of a variant without tiles selects
// the chain's other plan. False on failure (logged).
bool tune_pass_store(const struct tune_pass *pass, const struct variant_choice *choice, double ms, double default_ms);

// Copies random pictures to the device: 2 for frames of up to 4 Mpixel, otherwise 2 to 16, so that inputs and outputs
// exceed the caches (256 MiB); fewer if the device has too little memory. Call it before tune_build_open. False on
// failure (logged).
bool tune_pass_prepare(struct tune_pass *pass);
// Builds a valid configuration and runs it once, untimed. Only one thread may use this and the functions below. On
// failure returns NULL, and `why` has the reason.
struct tune_build *tune_build_open(struct tune_pass *pass, int configuration, char why[VERDICT_TEXT]);
void tune_build_close(struct tune_build *build); // accepts NULL
// Sets *ms to the average time of a run on the device's clock, over 2 to 64 runs that together take about `for_ms`.
// False on failure (logged).
bool tune_build_time(struct tune_build *build, double for_ms, double *ms);
