// opencl_chain.h: plans, compiles and enqueues a chain on an OpenCL device
#pragma once

#include "compute/device.h"
#include "compute/memory.h"
#include "compute/timing.h"
#include "compute/tuned.h"
#include "filter/plan.h"
#include "image/copier.h"
#include "path/pass_text.h"
#include "path/pass_tuned.h"
#include "path/path.h"

// ---- a pass ----

// The histogram of a pass's input. All zero: none.
struct opencl_histogram {
    const struct device_info *device;
    cl_kernel kernel[2]; // counts the pixels; computes the arguments
    struct histogram_parts counted;
    cl_mem counts; // all 0 between runs
    cl_int grey;   // 1: the input has one byte per pixel
};

// The layout of a picture in a device buffer: the int8 of kernels/pass_io.cl.
struct opencl_layout {
    cl_int width, height;
    cl_int stride[PIXFMT_PLANES];     // bytes
    cl_int offset[PIXFMT_PLANES - 1]; // bytes, of planes 1 and 2; plane 0 begins at 0
    cl_int to_stride;                 // of the pass's output, in pixels
};
_Static_assert(sizeof(struct opencl_layout) == sizeof(cl_int8), "the layout is an int8 to the kernels");

// Bytes that a load may reach beyond the last pixel if a work-item makes a block of pixels.
enum { OPENCL_WIDE_LOAD = IMAGE_SPARE_BYTES };

// Lays out a picture with rows aligned to 16 bytes, for wide loads. `to_stride` is that of an RGBA picture of this
// size. opencl_pass_run sets that of its output. Returns the bytes, with room for a wide load that begins in the last
// row.
size_t opencl_layout_make(struct opencl_layout *layout, const struct image_shape *shape);
// Sets strides and offsets to those of a frame in its memory. Returns its bytes from the first plane on; 0 if kernels
// cannot read it there: rows or planes are not aligned, or the frame's reach is unknown.
size_t opencl_layout_in_place(struct opencl_layout *layout, const struct image *frame);
// Copies a frame to memory that opencl_layout_make laid out. `copier`: as in copier_run.
void opencl_layout_copy(const struct opencl_layout *layout, uint8_t *to, const struct image *frame,
                        struct copier *copier);

// Returns true for CL_SUCCESS; otherwise *error gets the text of compute_ok, as in path_open.
bool opencl_ok(cl_int result, const char *doing, char **error);

struct opencl_pass {
    const struct pass *pass;
    const struct device_info *device;
    struct variant_choice choice;
    struct tuned_found tuned;          // its entry, of the device's database, named the choice; NULL: none did
    cl_kernel kernel[VARIANT_KERNELS]; // the variant's
    size_t group_limit;                // largest work-group, in work-items
    cl_mem arguments;
    struct pass_follower follower[CHAIN_MAX];
    int followers;
    cl_mem second;                     // the picture of the frame before; NULL: none
    struct opencl_histogram histogram; // of the input, if the pass measures it
    char name[140];                    // of its stage time
};

// Compiles a pass of a plan, which must outlive it. After a failure (*error as in path_open), the caller closes it too.
// CL_BUILD_PROGRAM_FAILURE: the compiler refuses the program.
cl_int opencl_pass_open(struct opencl_pass *opened, struct device *device, const struct pass *pass,
                        const struct pass_target *target, const struct variant_choice *choice, char **error);
void opencl_pass_close(struct opencl_pass *opened);
// Enqueues the writing of the arguments that plan_set_frame_time has set.
cl_int opencl_pass_follow(const struct opencl_pass *opened, cl_command_queue queue);
// Returns the size of the pass's output for an input with this layout, as an RGBA shape.
struct image_shape opencl_pass_output(const struct pass *pass, const struct opencl_layout *layout);
// Enqueues the pass after the event `after` (NULL: at once). `second`: the kept picture, if the pass gets one; it has
// the layout of the output. The caller releases the span, even after a failure.
cl_int opencl_pass_run(const struct opencl_pass *opened, cl_command_queue queue, const struct opencl_layout *layout,
                       cl_mem from, cl_mem second, cl_mem to, cl_event after, struct device_span *span);

// ---- the chain ----

// What a chain is compiled for.
struct opencl_target {
    struct device *device;
    struct image_shape input;
    bool to_image;                // it writes an OpenCL image, such as a GL texture, not a buffer
    struct variant_choice wanted; // its variant is NULL: the best one
};

// A compiled chain.
struct opencl_chain {
    struct image_shape rgba; // of its output
    struct plan plan;
    bool tiles; // the plan was made with tiles
    struct opencl_pass pass[PLAN_PASSES];
    cl_mem between[PLAN_PASSES]; // pictures between passes (pass.buffer); NULL: unused
};

// Takes device, input and variant from the setup.
struct opencl_target opencl_target_make(const struct path_setup *setup, bool to_image);
// Plans a chain. `tiles`: a pass may convert and filter before its stencil (variant.tiles).
void opencl_plan(struct plan *plan, const struct opencl_target *target, const struct chain *chain, bool tiles);
// Plans a chain, with tiles if there are variants for that, and chooses the variants of its passes. A variant that the
// target names is not probed. Returns true if the plan has tiles.
bool opencl_plan_passes(struct plan *plan, struct pass_choice choices[PLAN_PASSES], const struct opencl_target *target,
                        const struct chain *chain);
// Returns what pass `number` of the plan reads and writes.
struct pass_target opencl_pass_target(const struct opencl_target *target, const struct plan *plan, int number);

// Creates an output of this size for a chain with this target: an image, or a buffer (CL_MEM_READ_WRITE and `flags`).
// The caller releases it. NULL on failure, with *result set.
cl_mem opencl_output_open(const struct opencl_target *target, int width, int height, cl_mem_flags flags,
                          cl_int *result);
// Reads an output with this many bytes per pixel into the rows of `to`, and waits for the copy.
cl_int opencl_output_read(const struct opencl_target *target, cl_command_queue queue, cl_mem output,
                          const struct image *to, size_t pixel_bytes);

// Plans and compiles a chain. On any thread. NULL on failure: *error as in path_open.
struct opencl_chain *opencl_chain_open(const struct opencl_target *target, const struct chain *chain, char **error);
// Compiles the plan with or without `tiles`, with a choice for each of its passes. Otherwise as opencl_chain_open.
struct opencl_chain *opencl_chain_with(const struct opencl_target *target, const struct chain *chain, bool tiles,
                                       const struct pass_choice *choices, char **error);
void opencl_chain_close(void *opened); // a struct opencl_chain, or NULL
// Enqueues the writing of the frame's time and number to the arguments of the filters that follow them.
cl_int opencl_chain_set_frame_time(struct opencl_chain *chain, cl_command_queue queue, struct frame_time frame_time);
// Enqueues all passes after the event `after` (NULL: at once). `layout` is that of the picture in `from`. The caller
// releases the spans of the passes, even after a failure.
cl_int opencl_chain_run(const struct opencl_chain *chain, cl_command_queue queue, cl_mem from,
                        const struct opencl_layout *layout, cl_mem to, cl_event after,
                        struct device_span spans[PLAN_PASSES]);

// These run another build of a path's chain, for tuning while frames run (tune/live_tuning.h). All are for the thread
// that submits. path_target and path_chain return what the path runs: borrowed, until the chain changes or the path
// closes; NULL: the path needs no device. The next frame after path_try runs `chain`, which must compute the same bytes
// and stay open until this frame is collected. path_adopt takes over `chain` and closes the chain before; call it
// without frames in flight.
const struct opencl_target *path_target(const struct path *path);
const struct opencl_chain *path_chain(const struct path *path);
void path_try(struct path *path, struct opencl_chain *chain); // NULL: the path's own chain
void path_adopt(struct path *path, struct opencl_chain *chain);
