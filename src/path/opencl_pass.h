// opencl_pass.h: a pass on an OpenCL device: the layout of its pictures, its kernels and their launches
#pragma once

#include "compute/timing.h"
#include "image/copier.h"
#include "path/opencl_histogram.h"
#include "path/pass_text.h"

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
    cl_mem second;                     // the second picture of the pass's last filter; NULL: it gets none
    struct opencl_histogram histogram; // of the input, if the pass measures it
    char name[140];                    // of its stage time
};

// Compiles a pass of a plan, which must outlive it. After a failure (*error as in path_open), the caller closes it too.
// CL_BUILD_PROGRAM_FAILURE: the compiler refuses the program.
cl_int opencl_pass_open(struct opencl_pass *opened, struct device *device, const struct pass *pass,
                        const struct pass_target *target, const struct variant_choice *choice, char **error);
void opencl_pass_close(struct opencl_pass *opened);
// Enqueues the writing of the arguments that plan_set_moment has set.
cl_int opencl_pass_follow(const struct opencl_pass *opened, cl_command_queue queue);
// Returns the size of the pass's output for an input with this layout, as an RGBA shape.
struct image_shape opencl_pass_output(const struct pass *pass, const struct opencl_layout *layout);
// Enqueues the pass after the event `after` (NULL: at once). The caller releases the span, even after a failure.
cl_int opencl_pass_run(const struct opencl_pass *opened, cl_command_queue queue, const struct opencl_layout *layout,
                       cl_mem from, cl_mem to, cl_event after, struct device_span *span);
