// opencl_chain.h: plans, compiles and enqueues a chain on an OpenCL device
#pragma once

#include "path/opencl_pass.h"
#include "path/pass_tuned.h"
#include "path/path.h"

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
    cl_mem between[2]; // pictures between passes; NULL with a single pass
};

// Takes device, input and variant from the setup.
struct opencl_target opencl_target_make(const struct path_setup *setup, bool to_image);
// Plans a chain. `tiles`: a pass may convert and filter before its stencil (variant.tiles).
void opencl_plan(struct plan *plan, const struct opencl_target *target, const struct chain *chain, bool tiles);
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
// Enqueues the writing of the moment to the arguments of users' filters, if it is another one.
cl_int opencl_chain_set_moment(struct opencl_chain *chain, cl_command_queue queue, struct moment moment);
// Enqueues all passes after the event `after` (NULL: at once). `layout` is that of the picture in `from`. The caller
// releases the spans of the passes, even after a failure.
cl_int opencl_chain_run(const struct opencl_chain *chain, cl_command_queue queue, cl_mem from,
                        const struct opencl_layout *layout, cl_mem to, cl_event after,
                        struct device_span spans[PLAN_PASSES]);
