// passes.h: a pass of a chain on a device as a search space: its configurations, their validation and their time
#pragma once

#include "filter/chain.h"
#include "image/image.h"
#include "path/variants.h"
#include "tune/subject.h"

// The chain and the frames to tune for. All members are borrowed.
struct tune_target {
    struct device *device;
    const struct chain *chain;
    struct image_shape input;  // of every frame
    bool to_image;             // the last pass writes an OpenCL image, such as a texture, not a buffer
    const struct image *frame; // for the timing; its shape is `input`; NULL: random pixels
};

// A chain has up to two plans. With `tiles`, one pass may convert and filter before its stencil. Without it, the
// conversion and the filters before a stencil are a pass of their own. Returns the number of passes; 0: the device has
// no variant for a pass of the plan. If both plans are the same, the one without `tiles` has 0 passes.
int tune_passes(const struct tune_target *target, bool tiles);

// Opens pass `number` of the plan. Its space has the allowed configurations of all variants that are for this type of
// device and fit the pass. Parameter 0 is the variant. The value of each other parameter is SPACE_ABSENT for variants
// that do not have it. The presets are the defaults of the variants. NULL on failure (logged).
//
// - `validate` runs the pass on small pictures with odd sizes, and compares the output with the cpu path's. It also
// runs
//   a picture of the real size without a comparison, because some kernels hang only there.
// - `prepare` copies pictures to the device. They are random, or the pass's input when the chain reads target->frame.
//   Their number is 2 for frames of up to 4 Mpixel. For larger frames it is 2 to 16, so that inputs and outputs exceed
//   the caches (256 MiB). A device with too little memory gets fewer.
// - `time` uses the device's clock.
struct subject *tune_pass_open(const struct tune_target *target, bool tiles, int number);

// The functions below are for subjects of tune_pass_open.

struct variant_choice tune_pass_choice(const struct subject *subject, int configuration);
// Returns true if the pass converts or filters before its stencil. The chain's other plan then has two passes for it.
bool tune_pass_is_fused(const struct subject *subject);
// Returns true if a stored result makes other commands use the plan `split` instead of this fused pass.
bool tune_pass_runs_split(const struct subject *subject);
// Stores that the chain's other plan is faster than this fused pass: the choice is the generic kernel. False on failure
// (logged).
bool tune_pass_store_split(const struct subject *subject, double split_ms, double fused_ms);
