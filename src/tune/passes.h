// passes.h: a pass of a chain on a device as a search space: its configurations, their validation and their time
#pragma once

#include "compute/verdicts.h"
#include "filter/chain.h"
#include "image/image.h"
#include "path/probe.h"
#include "tune/space.h"

// The chain and the frames to tune for. All is borrowed.
struct tune_target {
    struct device *device;
    const struct chain *chain;
    struct image_shape input; // of every frame
    bool to_image;            // the last pass writes an OpenCL image, such as a texture, not a buffer
};

// A chain has up to two plans. With `tiles`, a pass may convert and filter before its stencil; otherwise that is a pass
// of its own. Returns the number of passes; 0: the device has no variant for this plan, or both plans are the same
// (then the one with `tiles` has the passes).
int tune_passes(const struct tune_target *target, bool tiles);

struct tune_pass;

// Opens a pass of the plan. Its random pictures need device memory: enough of them to exceed the caches. NULL on
// failure (logged).
struct tune_pass *tune_pass_open(const struct tune_target *target, bool tiles, int number);
void tune_pass_close(struct tune_pass *pass); // accepts NULL

const char *tune_pass_name(const struct tune_pass *pass); // "blur+gray"
// The allowed configurations of all variants that are for this type of device and fit the pass. Parameter 0 is the
// variant; each other parameter is "-" for variants that do not have it.
const struct space *tune_pass_space(const struct tune_pass *pass);
// Writes the default configurations of the variants. Without tuning, the pass uses the first one that runs. Returns
// their number.
enum { TUNE_PRESETS = 8 };
int tune_pass_presets(const struct tune_pass *pass, int presets[TUNE_PRESETS]);
struct variant_choice tune_pass_choice(const struct tune_pass *pass, int configuration);

// Builds and runs the configuration in a child process, on small pictures with odd sizes, and compares the output with
// the cpu path's. Writes the reason of a failure. On any thread.
enum probe_status tune_pass_validate(const struct tune_pass *pass, int configuration, char why[VERDICT_TEXT]);

// Returns true if the pass converts or filters before its stencil, so that the chain has another plan in which two
// passes do this.
bool tune_pass_is_fused(const struct tune_pass *pass);
// Adds a result to the user's database (compute/tuned.h). Times are in ms. A choice without tiles for a fused pass
// means the other plan. False: logged.
bool tune_pass_store(const struct tune_pass *pass, const struct variant_choice *choice, double ms, double default_ms);

// Stores random pictures on the device, if possible more than its caches hold. Call it before tune_build_open. False:
// logged.
bool tune_pass_prepare(struct tune_pass *pass);
// Builds a valid configuration and runs it once, untimed. Only one thread may use the functions below. On failure
// returns NULL and writes the reason.
struct tune_build *tune_build_open(struct tune_pass *pass, int configuration, char why[VERDICT_TEXT]);
void tune_build_close(struct tune_build *build); // accepts NULL
// Sets the average time of one run on the device's clock, over runs that take about `for_ms` together. False on failure
// (logged).
bool tune_build_time(struct tune_build *build, double for_ms, double *ms);
