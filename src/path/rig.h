// rig.h: runs passes, chains and measures on pictures in a device's memory, for probes, tuning and bench
#pragma once

#include "compute/timing.h"
#include "filter/plan.h"
#include "path/measures.h"

struct device;
struct opencl_chain; // a compiled chain
struct opencl_pass;  // a compiled pass
struct opencl_target;
struct pass_choice;

// Pictures of one shape in a device's memory, and outputs. Runs use both in turn. Its queue has profiling.
struct rig;

// ---- pictures ----

// Uses the setup's device and input, for `inputs` pictures and two outputs. `to_image`: the outputs are OpenCL images,
// such as GL textures; otherwise buffers. NULL on failure (logged).
struct rig *rig_open(const struct path_setup *setup, int inputs, bool to_image);
void rig_close(struct rig *rig); // accepts NULL; close what runs on it before

// Copies a picture of the rig's shape to an input. False on failure (logged).
bool rig_fill(struct rig *rig, int input, const struct image *picture);
// Waits, and copies the output of the latest run, of the size of `to`: RGBA, or one byte per pixel if the run was that
// of a pass that writes grey pictures. False on failure (logged).
bool rig_read(struct rig *rig, const struct image *to);
// Returns true if a result has the pixels of an RGBA picture of this size, or the first `pixel_bytes` of each.
bool rig_same(const struct image *got, const struct image *want, size_t pixel_bytes);

// ---- chains ----

// Compiles a chain for these pictures. `variant` as in path_setup. NULL on failure: *error as in path_open.
struct opencl_chain *rig_chain_open(struct rig *rig, const struct chain *chain, const char *variant, char **error);
// The same with a choice for each pass, as opencl_chain_with.
struct opencl_chain *rig_chain_with(struct rig *rig, const struct chain *chain, bool tiles,
                                    const struct pass_choice *choices, char **error);
void rig_chain_close(struct opencl_chain *chain); // accepts NULL
// Runs the chain `runs` times, on input `first` and the next ones in turn. False on failure (logged).
bool rig_chain_run(struct rig *rig, const struct opencl_chain *chain, int first, int runs, struct timing *timing);

// Runs the chain once, on the first `rows` rows of input 0 (0: all), and waits. *ms is the time of a pass. Returns a
// result of OpenCL, and logs nothing.
int rig_chain_try(struct rig *rig, const struct opencl_chain *chain, int rows, int pass, double *ms);

// ---- measures ----

// The measures of `measuring`, which is borrowed, of RGBA pictures. rig_measures_open returns NULL on failure: *error
// as in path_open. rig_measures_run is like rig_chain_run. rig_measures_read copies the values of the last run. False
// on failure (logged).
struct rig_measures;
struct rig_measures *rig_measures_open(struct rig *rig, const struct measuring *measuring, char **error);
void rig_measures_close(struct rig_measures *measures); // accepts NULL
bool rig_measures_run(struct rig_measures *measures, int first, int runs, struct timing *timing);
bool rig_measures_read(const struct rig_measures *measures, uint32_t *values);

// ---- one pass of a plan ----

// Returns the shape of the pictures that a pass reads. Grey pictures between passes have PIXFMT_GREY.
struct image_shape rig_pass_shape(const struct opencl_target *target, const struct plan *plan, int number);
// Returns the shape of its result as RGBA, for a picture of that shape.
struct image_shape rig_pass_output(const struct opencl_target *target, const struct plan *plan, int number);

// Fills a picture of this shape with random bytes. If the pass may rely on it, the three colours of each pixel are
// equal.
void rig_pass_random(const struct image *picture, const struct plan *plan, int number);
// Runs the pass with the cpu path, on one thread. False on failure (logged).
bool rig_pass_expect(const struct pass *pass, const struct image *picture, struct image *rgba);

// Opens a rig for a pass of a plan, with `pictures` copies of `picture`, which has the shape of rig_pass_shape, and as
// many outputs. An output that is a buffer lies between guard bytes. The target and the plan are borrowed. NULL on
// failure: *result is set.
struct rig *rig_pass_open(const struct opencl_target *target, const struct plan *plan, int number,
                          const struct image *picture, int pictures, cl_int *result);
// Writes the arguments of the pass that plan_set_frame_time has set. False on failure (logged).
bool rig_pass_follow(struct rig *rig, const struct opencl_pass *opened);
// As rig_chain_run.
bool rig_pass_run(struct rig *rig, const struct opencl_pass *opened, int first, int runs, struct timing *timing);
// Waits. Returns true if the latest run wrote no byte before or after its output buffer.
bool rig_pass_intact(const struct rig *rig);
